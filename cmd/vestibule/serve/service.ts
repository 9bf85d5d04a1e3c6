import { join } from 'node:path';
import { Pages } from '../../../apiserver/static-pages.js';
import { Server } from '../../../apiserver/server.js';
import type { Config } from '../options/config.js';
import { DisposableStack } from './disposables.js';
import { healthChecks } from './health-checks.js';
import { ensureKeys, readKeys } from './keys-file.js';
import { settingsOf } from './kind-settings.js';
import { closingWorker } from '../../../kinds/accountactions/deletion-worker.js';
import { actions, kinds } from '../../../kinds/index.js';
import { Memberships } from '../../../kinds/group/membership-index.js';
import { MockMessage } from '../../../kinds/mail/mock-message.js';
import { operatorsNow } from '../../../kinds/group/operators.js';
import { noteDelivery } from '../../../kinds/interaction/delivery.js';
import { OperatorPasskeys } from '../../../kinds/group/operator-passkeys.js';
import { sessionsWorker } from '../../../kinds/account/end-sessions.js';
import { webauthn } from '../../../kinds/passkey/webauthn/library.js';
import { openEngine } from '../../../policy/engine.js';
import { recoveryWorker, stopRevivedRecoveries } from '../../../kinds/recovery/worker.js';
import { openPolicyAuthorizer, type PolicyAuthorizer } from '../../../policy/policy-service.js';
import { EvaluationErrorLog } from '../../../policy/evaluate/error-log.js';
import { declareBuiltIn, Suppliers } from '../../../kinds/claims/scope-index.js';
import { openMail } from './mail-transport.js';
import { mailWorker } from '../../../mail/worker.js';
import { applyManifests } from './manifests.js';
import { followTrust, type FollowedTrust } from './requestheader-trust.js';
import { createIdentityProvider, type IdentityProvider } from '../../../provider/provider.js';
import { AddressList } from '../../../security/cidr-list.js';
import type { ClockSkew } from './clock-skew.js';
import { WatchCache } from '../../../registry/watchcache/watch-cache.js';
import type { Keys } from '../../../security/keyring.js';
import type { Authorizer } from '../../../registry/authorizer.js';
import type { Ports } from '../../../registry/kind.js';
import type { Log } from '../../../observability/log.js';
import { Outbox } from '../../../registry/outbox.js';
import { Registry } from '../../../registry/registry.js';
import { Store } from '../../../registry/store.js';
import { release } from '../../../observability/build-info.js';
import { followClocks } from './replica-clocks.js';
import { keysFileOf, useKeys } from './service-keys.js';
import { freePort, listen } from './serving.js';
import { startCompactor } from '../../../storage/compactor.js';
import type { Storage } from '../../../storage/storage.js';
import { openStorage } from './open-storage.js';
import { openAudit } from './audit-log.js';

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
  /**
   * Returns the counts since the start by name: `policy.…` for decisions, otherwise the provider's
   * events. For tests and benchmarks.
   */
  counts(): ReadonlyMap<string, number>;
  /** Reopens the audit log after its file was renamed. */
  reopen(): Promise<void>;
  /**
   * Stops gracefully: turns unready at once, finishes requests, ends watches and closes the store.
   */
  stop(): Promise<void>;
}

/**
 * Parts that a caller provides instead of the settings. A provided storage is closed with the
 * service, or when the start fails.
 */
interface Given {
  readonly storage?: Storage;
  readonly keys?: Keys;
  /** The directory of a pod's service account. */
  readonly serviceAccount?: string;
}

/**
 * Opens the store, wires kinds, policy, provider and pages, and listens; resolves when the service
 * is ready. A start that fails leaves nothing open.
 */
export async function startService(
  config: Config,
  log: Log,
  folder: string,
  given: Given = {},
): Promise<Service> {
  const held = new DisposableStack();
  try {
    return await start({ config, log, folder, given, held, links: {} });
  } catch (error) {
    await held
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
  readonly folder: string;
  readonly given: Given;
  readonly held: DisposableStack;
  /** Parts that are created after the parts that refer to them. */
  readonly links: Links;
}

interface Links {
  store?: Store;
  groups?: Memberships;
  policy?: PolicyAuthorizer;
  provider?: IdentityProvider;
  server?: Server;
}

type Base = Awaited<ReturnType<typeof openBase>>;

type Core = Awaited<ReturnType<typeof openStore>>;

async function start(context: StartContext): Promise<Service> {
  const base = await openBase(context);
  const core = await openStore(context, base);
  const provider = await openProvider(context, base, core);
  await registerWorkers(context, base, core);
  await startPolicy(context, core, provider);
  const clocks = await followClocks(
    context.config,
    base.storage,
    core.keys,
    context.log,
    context.held,
  );
  const server = createServer(context, base, core, provider, clocks);
  context.links.server = server;
  return serve(context, base, core, provider, clocks, server);
}

/** Opens what every other part needs. The policy engine loads in the background. */
async function openBase({ config, log, given, held, links }: StartContext) {
  if (given.storage) held.add(() => given.storage!.close());
  const proxyTrust = trustFor(config, log, given, held);
  const keys = given.keys ?? (config.keysFile ? readKeys(config.keysFile) : undefined);
  const registry = new Registry(
    config.mockMail ? kinds : kinds.filter((kind) => kind !== MockMessage),
    actions,
  );
  const metrics =
    config.metricsPort === undefined
      ? undefined
      : new (await import('../../../observability/metrics/metrics.js')).Metrics(log);
  const engine = openEngine(kinds, actions, {
    operators: () => operatorsNow(links.store!, links.groups!),
    trouble: EvaluationErrorLog.into(log),
    evaluations: metrics?.policyEvaluation,
  });
  engine.catch(() => {
    /* The error is thrown where the promise is awaited. */
  });
  const audit = openAudit(config.auditLogPath, log, held);
  const storage = given.storage ?? (await openStorage(config, log, held, metrics));
  if (!given.storage) held.add(() => storage.close());
  const port = config.port || (await freePort(config.bindAddress));
  const baseURL = config.baseURL ?? `http://localhost:${port}`;
  return { proxyTrust, keys, registry, engine, metrics, audit, storage, port, baseURL };
}

/** Creates the store from registry, watch cache, keys and policy, and starts the watch cache. */
async function openStore(
  context: StartContext,
  { registry, engine, storage, baseURL, ...base }: Base,
) {
  const { config, log, given, held, links } = context;
  const settings = await settingsOf(config, baseURL, storage, log);
  const watchCache = new WatchCache(storage, registry.kinds, log);
  const keys = base.keys ?? ensureKeys(keysFileOf(config));
  await useKeys(keys, given.keys ? undefined : keysFileOf(config), storage, log, held);
  const authorize: Authorizer = (question) => links.policy!.authorize(question);
  const ports = (...request: Parameters<IdentityProvider['ports']>): Ports => ({
    ...links.provider!.ports(...request),
    policy: links.policy!,
  });
  const store = new Store({ storage, registry, watchCache, keys, settings, authorize, ports });
  links.store = store;
  const policy = openPolicyAuthorizer(await engine, store, log, () => links.server?.renewViews());
  links.policy = policy;
  const outbox = new Outbox(store, keys, log);
  held.add(() => watchCache.stop());
  await watchCache.start();
  return { settings, watchCache, keys, authorize, ports, store, policy, outbox };
}

/** Starts the indexes over stored objects, and creates the provider. */
async function openProvider(
  { config, log, held, links }: StartContext,
  { storage, metrics }: Base,
  { store, keys, settings, authorize, outbox }: Core,
): Promise<IdentityProvider> {
  const suppliers = new Suppliers(store);
  const groups = new Memberships(store, config.operators);
  links.groups = groups;
  const operatorPasskeys = new OperatorPasskeys(store, groups);
  await follow(groups, suppliers, operatorPasskeys, held);
  const provider = createIdentityProvider({
    store,
    storage,
    keys,
    settings,
    authorize,
    groups,
    operatorPasskeys,
    suppliers,
    stylesheet: () => links.server!.stylesheet,
    log,
    outbox,
    networkLimits: store.networkLimits,
    metrics,
  });
  links.provider = provider;
  held.add(provider.unproven.follow());
  await Promise.all([declareBuiltIn(store), stopRevivedRecoveries(store, log)]);
  return provider;
}

/** Registers the workers that process outbox rows. */
async function registerWorkers(
  { config, log, held }: StartContext,
  { metrics }: Base,
  { store, outbox }: Core,
): Promise<void> {
  const mail = await openMail(config, store, log);
  if ('transport' in mail) held.add(() => mail.transport.close());
  for (const worker of [
    mailWorker(config.emailFrom, mail, log, metrics?.mail, noteDelivery(store)),
    closingWorker(store),
    sessionsWorker(store),
    recoveryWorker(store),
  ])
    outbox.register(worker);
}

/** Activates the policy, then applies the manifests. */
async function startPolicy(
  { config, held }: StartContext,
  { store, policy }: Core,
  provider: IdentityProvider,
): Promise<void> {
  held.add(async () => {
    await provider.settled();
    await policy.stop();
  });
  await policy.start();
  if (config.manifests) await applyManifests(config.manifests, store, policy);
  policy.ready();
}

function createServer(
  { config, log, folder }: StartContext,
  { proxyTrust, metrics, audit, storage, baseURL }: Base,
  { watchCache, keys, authorize, ports, store, policy }: Core,
  provider: IdentityProvider,
  clocks: ClockSkew | undefined,
): Server {
  return new Server({
    release,
    inflight: config.inflight,
    ...(config.trustedProxies.length > 0 && {
      trustedProxies: new AddressList(config.trustedProxies),
    }),
    checks: healthChecks({ storage, watchCache, policy, clocks }),
    store,
    keys,
    log,
    baseURL,
    ownHost: config.mockMail ? new URL(baseURL) : undefined,
    authorize,
    limits: store.networkLimits,
    authenticators: provider.authenticators,
    ports,
    provider: (req, res) => provider.handle(req, res, req.network, req.auditID),
    errorPage: (status, auditID) => provider.errorPage(status, auditID),
    pages: new Pages(join(folder, 'dist/ui'), { mailbox: config.mockMail, baseURL }),
    ...(proxyTrust && { proxyTrust }),
    ...(metrics && { metrics }),
    ...(audit && { audit }),
  });
}

/** Listens, then starts the background work. A stop runs in the reverse order. */
async function serve(
  { config, log, held }: StartContext,
  { registry, metrics, audit, storage, proxyTrust, baseURL, port }: Base,
  { store, policy, outbox }: Core,
  provider: IdentityProvider,
  clocks: ClockSkew | undefined,
  server: Server,
): Promise<Service> {
  const watched = held.child(); // Closes last, so that scrapes see the shutdown too.
  held.add(() => outbox.stop());
  held.add(startCompactor(storage, { interval: config.compactionSeconds * 1000 }));
  const stopping = { delay: 0, warmed: Promise.resolve() };
  held.add(async () => {
    await server.stop({ delay: stopping.delay });
    await stopping.warmed;
  });
  const at = { baseURL, port, begun: proxyTrust?.begun };
  const { certificate, ...urls } = await listen(config, at, server, log, held);
  if (certificate) metrics?.certificates.set('serving', certificate);
  const observed = { server, store, policy, outbox, clocks, audit };
  const metricsURL =
    metrics &&
    (await (
      await import('./metrics-port.js')
    ).openMetricsPort(config, metrics, observed, log, watched));
  stopping.delay = config.shutdownDelay * 1000;
  outbox.start();
  server.ready();
  stopping.warmed = warm(registry, log);
  return {
    baseURL,
    store,
    counts: () => countsOf(policy, provider),
    ...urls,
    ...(metricsURL !== undefined && { metricsURL }),
    stop: () => held.release(),
    reopen: async () => {
      await audit?.reopen();
    },
  };
}

const countsOf = (
  policy: PolicyAuthorizer,
  provider: IdentityProvider,
): ReadonlyMap<string, number> =>
  new Map([
    ...Object.entries(policy.counts()).map(([name, count]): [string, number] => [
      `policy.${name}`,
      count,
    ]),
    ...provider.counts,
  ]);

/** Starts three indexes; they follow their kinds until the stop. */
async function follow(
  groups: Memberships,
  suppliers: Suppliers,
  operatorPasskeys: OperatorPasskeys,
  held: DisposableStack,
): Promise<void> {
  held.add(() => {
    groups.stop();
    suppliers.stop();
    operatorPasskeys.stop();
  });
  operatorPasskeys.start();
  await Promise.all([groups.start(), suppliers.start()]);
}

/** Starts following which front proxies are trusted, if any are configured. */
function trustFor(
  { frontProxy }: Config,
  log: Log,
  { serviceAccount }: Given,
  held: DisposableStack,
): FollowedTrust | undefined {
  const followed = frontProxy && followTrust(frontProxy, log, serviceAccount);
  if (followed) held.add(() => followed.stop());
  return followed;
}

/** Prepares after the first requests what would delay a later one. */
const warm = (registry: Registry, log: Log): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(() => {
      registry.warm();
      webauthn().then(
        () => resolve(),
        (error) => {
          log.error({ err: error }, 'passkeys cannot be verified');
          resolve();
        },
      );
    });
  });
