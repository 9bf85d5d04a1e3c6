import { join } from 'node:path';
import { Server } from '../../../apiserver/server.js';
import { Pages } from '../../../apiserver/static-pages.js';
import { inviteFirstOperator } from '../../../kinds/access/invitation/first-operator.js';
import { closingWorker } from '../../../kinds/accountactions/deletion-worker.js';
import { changeBudget } from '../../../kinds/change-budget.js';
import { actions, kinds } from '../../../kinds/index.js';
import { MockMessage } from '../../../kinds/mail/mock-message.js';
import { noteDelivery } from '../../../kinds/mail-delivery.js';
import { sessionsWorker } from '../../../kinds/people/account/end-sessions.js';
import { assertRights } from '../../../kinds/people/group/caller-rights.js';
import { passkeyWorker } from '../../../kinds/people/passkey/strength-worker.js';
import { recoveryWorker } from '../../../kinds/people/recovery/worker.js';
import { MailOutcomes } from '../../../mail/outcomes.js';
import { mailWorker } from '../../../mail/worker.js';
import { release } from '../../../observability/build-info.js';
import type { Log } from '../../../observability/log.js';
import { openEngine } from '../../../policy/engine/engine.js';
import { EvaluationErrorLog } from '../../../policy/evaluate/error-log.js';
import { EntitySource } from '../../../policy/model/entity-source.js';
import { openPolicyAuthorizer, type PolicyAuthorizer } from '../../../policy/policy-service.js';
import { shellLanguages } from '../../../provider/http/shell-language.js';
import { createIdentityProvider, type IdentityProvider } from '../../../provider/provider.js';
import type { Ports } from '../../../registry/kind.js';
import { Outbox } from '../../../registry/store/outbox.js';
import { Registry } from '../../../registry/store/registry.js';
import { StoredVersions } from '../../../registry/store/replicas/stored-versions.js';
import { Store } from '../../../registry/store/store.js';
import { WatchCache } from '../../../registry/watchcache/watch-cache.js';
import { CidrList } from '../../../security/cidr-list.js';
import { DisposableStack } from '../../../security/disposable-stack.js';
import { startCompactor } from '../../../storage/compactor.js';
import type { Config } from '../options/config.js';
import { apiDescription } from './api-description.js';
import { openAuditLog } from './audit-log.js';
import { countsOf } from './counts.js';
import { declareObjects } from './declare-objects.js';
import { followAuthority } from './follow-authority.js';
import { healthChecks } from './health-checks.js';
import { type Indexes, openIndexes } from './indexes.js';
import { ensureKeys, readKeys } from './keys/keys-file.js';
import { followServiceKeys, keysFilePath } from './keys/service-keys.js';
import { kindSettings } from './kind-settings.js';
import { openMailTransport } from './mail-transport.js';
import { type ManifestController, openManifests } from './manifests/manifest-controller.js';
import { openStorage } from './open-storage.js';
import { followReplicas } from './replicas/follow-replicas.js';
import { openReplica } from './replicas/open-replica.js';
import type { StartOverrides } from './start-overrides.js';
import { retryWhileStoreIsAway } from './start-retry.js';
import { followTrust } from './tls/requestheader-trust.js';
import { listen, portOf } from './tls/serving.js';
import { warmUp } from './warm-up.js';
import { warnOfRights } from './warnings/operators-warning.js';
import { watchSpace } from './warnings/space-warning.js';

/** A running service. */
export interface Service {
  readonly baseURL: string;
  /** The address that the service listens on. */
  readonly url: string;
  /** The address of the TLS port, if `--secure-port` is set. */
  readonly secureURL?: string;
  /** The address of the metrics port, if there is one. */
  readonly metricsURL?: string;
  readonly store: Store;
  /** Resolves when everything is prepared that would delay a later request. */
  readonly warmedUp: Promise<void>;
  /**
   * Returns the counts since the start by name: `policy.…` for decisions, otherwise the provider's
   * events. For tests and benchmarks.
   */
  counts(): ReadonlyMap<string, number>;
  /** Returns a new link for the first operator, or undefined if someone operates the service. */
  inviteFirstOperator(): Promise<string | undefined>;
  /** Reopens the audit log after its file was renamed. */
  reopen(): Promise<void>;
  /**
   * Stops gracefully: turns unready at once, finishes requests, ends watches and closes the store.
   */
  stop(): Promise<void>;
}

/**
 * Opens the store, wires kinds, policy, provider and pages, and listens; resolves when the service
 * is ready. While etcd does not answer, the start is repeated for a minute. A start that fails
 * leaves nothing open.
 */
export function startService(
  config: Config,
  log: Log,
  root: string,
  overrides: StartOverrides = {},
): Promise<Service> {
  const start = (): Promise<Service> => startOnce(config, log, root, overrides);
  return config.store.type === 'etcd' && !overrides.storage
    ? retryWhileStoreIsAway(start, log)
    : start();
}

async function startOnce(
  config: Config,
  log: Log,
  root: string,
  overrides: StartOverrides,
): Promise<Service> {
  const disposables = new DisposableStack();
  try {
    return await assemble({ config, log, root, overrides, disposables });
  } catch (error) {
    await disposables
      .release()
      .catch((failure) =>
        log.error({ err: failure }, 'cleanup after a failed start was incomplete'),
      );
    throw error;
  }
}

/** The inputs of a start, and what it has opened so far. */
interface StartContext {
  readonly config: Config;
  readonly log: Log;
  readonly root: string;
  readonly overrides: StartOverrides;
  readonly disposables: DisposableStack;
}

type BaseParts = Awaited<ReturnType<typeof openBase>>;

type CoreParts = Awaited<ReturnType<typeof openStore>>;

async function assemble(context: StartContext): Promise<Service> {
  const base = await openBase(context);
  const core = await openStore(context, base);
  const { config, log, disposables } = context;
  const indexes = await openIndexes(core.store, config.operators, log, disposables);
  const pages = openPages(context, base, core, indexes);
  const provider = createProvider(context, base, core, indexes, pages);
  connect(core, indexes, provider);
  await declareObjects(core.store, log);
  const mails = await registerWorkers(context, base, core, indexes);
  const manifests = await startPolicy(context, core, provider);
  await indexes.invitations.start();
  await followReplicas(base, core.keys, log, disposables);
  disposables.add(await core.store.indexes.start(log));
  const server = createServer(context, base, core, indexes, { provider, pages });
  const { store, policy } = core;
  policy.activation.onChange(() => {
    server.endDecoratedWatches();
    indexes.invitations.check();
  });
  const { settings } = indexes;
  const parts = { server, store, policy, provider, mails, manifests, settings };
  return serve(context, base, core, parts);
}

/** Opens what every other part needs. The policy engine loads in the background. */
async function openBase({ config, log, overrides, disposables }: StartContext) {
  if (overrides.storage) disposables.add(() => overrides.storage!.close());
  const proxyTrust =
    config.frontProxy && followTrust(config.frontProxy, log, overrides.serviceAccount);
  if (proxyTrust) disposables.add(() => proxyTrust.stop());
  const keys = overrides.keys ?? (config.keysFile ? readKeys(config.keysFile) : undefined);
  const registry = new Registry(
    config.mockMail ? kinds : kinds.filter((kind) => kind !== MockMessage),
    actions,
  );
  const metrics =
    config.metricsPort === undefined
      ? undefined
      : new (await import('../../../observability/metrics/metrics.js')).Metrics(log);
  const engine = openEngine(kinds, actions, {
    onEvaluationError: EvaluationErrorLog.handler(log),
    evaluationSeconds: metrics?.policyEvaluation,
    timeZone: config.policyTimeZone,
  });
  engine.catch(() => {
    /* The error is thrown where the promise is awaited. */
  });
  const audit = openAuditLog(config.auditLogPath, log, disposables);
  const storage = overrides.storage ?? (await openStorage(config, log, disposables, metrics));
  if (!overrides.storage) disposables.add(() => storage.close());
  const storedVersions = await StoredVersions.open(storage, registry);
  const port = await portOf(config);
  const baseURL = config.baseURL ?? `http://localhost:${port}`;
  const opened = { storage, storedVersions, port, baseURL };
  return { proxyTrust, keys, registry, engine, metrics, audit, ...opened };
}

/** Creates the store from registry, watch cache, keys and policy, and starts the watch cache. */
async function openStore(
  context: StartContext,
  { registry, engine, storage, baseURL, ...base }: BaseParts,
) {
  const { config, log, overrides, disposables } = context;
  const settings = await kindSettings(config, baseURL, storage, log);
  const watchCache = new WatchCache(storage, registry.kinds, log);
  const keys = base.keys ?? ensureKeys(keysFilePath(config));
  await followServiceKeys(
    keys,
    overrides.keys ? undefined : keysFilePath(config),
    storage,
    log,
    disposables,
  );
  const store = new Store({ storage, registry, watchCache, keys, settings, assertRights });
  const policy = openPolicyAuthorizer(await engine, store, log, overrides.decisionIntervalMs);
  const outbox = new Outbox(store, keys, log);
  disposables.add(() => watchCache.stop());
  await watchCache.start();
  return { watchCache, keys, store, policy, outbox };
}

const openPages = (
  { config, root }: StartContext,
  { baseURL }: BaseParts,
  { store }: CoreParts,
  { appearance }: Indexes,
): Pages =>
  new Pages(join(root, 'dist/ui'), {
    mailbox: config.mockMail,
    baseURL,
    appearance,
    version: store.registry.version,
    shells: shellLanguages(baseURL),
  });

function createProvider(
  { log, disposables }: StartContext,
  { metrics }: BaseParts,
  { store, keys, policy, outbox }: CoreParts,
  indexes: Indexes,
  { shared }: Pages,
): IdentityProvider {
  const { authorizer } = policy;
  const deps = { store, keys, authorizer, indexes, sharedAssets: shared, log, outbox, metrics };
  const provider = createIdentityProvider(deps);
  disposables.add(provider.unfinishedSignIns.follow());
  return provider;
}

/** Connects store and policy with what needs them; no call is made before. */
function connect({ store, policy }: CoreParts, indexes: Indexes, provider: IdentityProvider): void {
  store.connect({
    authorizer: policy.authorizer,
    ports: () => portsOf(policy, indexes, provider),
  });
  policy.connect(new EntitySource(store, indexes));
}

/** Returns the ports of a request, or of a call of the service itself. */
const portsOf = (
  policy: PolicyAuthorizer,
  { settings }: Indexes,
  provider: IdentityProvider,
  ...request: Parameters<IdentityProvider['ports']>
): Ports => ({ ...provider.ports(...request), policy, settings });

/** Registers the workers that process outbox rows. */
async function registerWorkers(
  { config, log, disposables }: StartContext,
  { metrics }: BaseParts,
  { store, outbox }: CoreParts,
  { appearance }: Indexes,
): Promise<MailOutcomes> {
  const outcomes = new MailOutcomes(metrics?.mail);
  const mail = await openMailTransport(config, store, log);
  if ('transport' in mail) disposables.add(() => mail.transport.close());
  for (const worker of [
    mailWorker(
      { from: () => store.settings.emailFrom, appearance: () => appearance.current.mail },
      mail,
      log,
      outcomes,
      noteDelivery(store),
    ),
    closingWorker(store),
    sessionsWorker(store),
    recoveryWorker(store),
    passkeyWorker(store),
  ]) {
    outbox.register(worker);
  }
  return outcomes;
}

/** Activates the policy, then applies the manifests and follows them. */
async function startPolicy(
  { config, log, disposables }: StartContext,
  { store, policy }: CoreParts,
  provider: IdentityProvider,
): Promise<ManifestController | undefined> {
  disposables.add(async () => {
    await provider.settled();
    await policy.stop();
  });
  await policy.start();
  const manifests = await openManifests(config.manifests, { store, policy }, log, disposables);
  policy.ready();
  await warnOfRights(store, log);
  return manifests;
}

/** What the server serves beside objects. */
interface ServedParts {
  readonly provider: IdentityProvider;
  readonly pages: Pages;
}

function createServer(
  { config, log }: StartContext,
  { proxyTrust, metrics, audit, baseURL }: BaseParts,
  { watchCache, keys, store, policy }: CoreParts,
  indexes: Indexes,
  { provider, pages }: ServedParts,
): Server {
  const mockMailHost = { url: new URL(baseURL), reason: 'while mail is mocked' };
  return new Server({
    release,
    description: apiDescription,
    maxInFlight: config.inflight,
    ...(config.trustedProxies.length > 0 && {
      trustedProxies: new CidrList(config.trustedProxies),
    }),
    checks: healthChecks(store, policy),
    store,
    keys,
    log,
    baseURL,
    allowedHost: config.mockMail ? mockMailHost : undefined,
    authorizer: policy.authorizer,
    limits: store.networkLimits,
    spendBudget: changeBudget(store),
    authority: followAuthority(watchCache, indexes.groups, policy),
    authenticators: provider.authenticators,
    ports: (...request) => portsOf(policy, indexes, provider, ...request),
    provider: (req, res) => provider.handle(req, res, req.network, req.auditID),
    errorPage: provider.errorPage,
    pages,
    ...(proxyTrust && { proxyTrust }),
    ...(metrics && { metrics }),
    ...(audit && { audit }),
  });
}

/** Listens, then starts the background work. A stop runs in the reverse order. */
async function serve(
  { config, log, overrides, disposables }: StartContext,
  { registry, metrics, audit, storage, proxyTrust, baseURL, port }: BaseParts,
  { outbox }: CoreParts,
  parts: Parameters<typeof openReplica>[1],
): Promise<Service> {
  const { server, store, policy, provider } = parts;
  const metricsDisposables = disposables.child(); // Closes last, so that scrapes see the shutdown too.
  disposables.add(() => outbox.stop());
  disposables.add(startCompactor(storage, { intervalMs: config.compactionSeconds * 1000 }));
  disposables.add(watchSpace(config.store, store, log));
  const replica = openReplica(config, parts, log);
  disposables.add(() => replica.stop());
  const shutdown = { delayMs: 0, warmUp: Promise.resolve() };
  disposables.add(async () => {
    await server.stop({ delayMs: shutdown.delayMs });
    await shutdown.warmUp;
  });
  const endpoint = { baseURL, port, loaded: proxyTrust?.loaded };
  const { certificate, ...urls } = await listen(config, endpoint, server, log, disposables);
  if (certificate) metrics?.certificates.set('serving', certificate);
  const metricsURL =
    metrics &&
    (await (
      await import('./metrics-port.js')
    ).openMetricsPort(config, metrics, { ...parts, outbox, audit }, log, metricsDisposables));
  shutdown.delayMs = config.shutdownDelaySeconds * 1000;
  outbox.start();
  server.ready();
  await replica.start();
  if (overrides.warmsUp ?? true) shutdown.warmUp = warmUp(registry, log);
  return {
    baseURL,
    store,
    warmedUp: shutdown.warmUp,
    counts: () => countsOf(policy, provider),
    ...urls,
    ...(metricsURL !== undefined && { metricsURL }),
    stop: () => disposables.release(),
    inviteFirstOperator: () => inviteFirstOperator(store),
    reopen: async () => void (await audit?.reopen()),
  };
}
