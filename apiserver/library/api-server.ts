import { createLog, type Log } from '../../observability/log.js';
import type { ApiServerMetrics } from '../../observability/metrics/api-server-metrics.js';
import type { Authenticator } from '../../registry/authenticator.js';
import type { Authorizer } from '../../registry/authorizer.js';
import type { Ports, Settings } from '../../registry/kind.js';
import { defaultsOf, serverLimits } from '../../registry/limits/limit-settings.js';
import { minuteMs } from '../../registry/schema/units.js';
import { Controller } from '../../registry/store/controller.js';
import { GarbageCollector } from '../../registry/store/garbage/garbage-collector.js';
import { Outbox } from '../../registry/store/outbox.js';
import { Registry } from '../../registry/store/registry.js';
import { startReplicaRecord } from '../../registry/store/replicas/replica-record.js';
import { StoredVersions } from '../../registry/store/replicas/stored-versions.js';
import {
  startMigration,
  type VersionFacts,
} from '../../registry/store/replicas/version-migration.js';
import { Store } from '../../registry/store/store.js';
import { WatchCache } from '../../registry/watchcache/watch-cache.js';
import { DisposableStack } from '../../security/disposable-stack.js';
import { Keys, newKeys } from '../../security/keyring.js';
import { isLoopback } from '../../security/loopback.js';
import { startCompactor } from '../../storage/compactor.js';
import { readEpoch } from '../../storage/epoch.js';
import type { AuditSink } from '../chain/audit.js';
import type { SecurityScheme } from '../discovery/api-description.js';
import { type HealthCheck, storageCheck } from '../health.js';
import { freePort } from '../http/free-port.js';
import type { ServingCertificate } from '../listener.js';
import { Server } from '../server.js';
import { observeServer } from '../server-metrics.js';
import { bearerToken } from './bearer-token.js';
import { clientAuthorities, proxyTrust } from './client-authority.js';
import type { ApiServerOptions } from './options.js';
import { waitingAuthorizer } from './waiting-authorizer.js';

/** A running server. */
export interface ApiServer {
  /** The address that the server listens on. */
  readonly url: string;
  /** Reads and changes objects without a request. */
  readonly store: Store;
  /** Finishes requests, ends watches and closes the store. */
  stop(): Promise<void>;
}

/** The inputs of a start, and what it has opened so far. */
interface StartContext {
  readonly options: ApiServerOptions;
  readonly component: string;
  readonly keys: Keys;
  readonly log: Log;
  readonly authenticators: readonly Authenticator[];
  readonly authorizer: Authorizer;
  readonly metrics: ApiServerMetrics | undefined;
  readonly disposables: DisposableStack;
}

/** Where a server listens, and the origin that clients use. */
interface Endpoint {
  readonly address: string;
  readonly port: number;
  readonly baseURL: string;
}

/**
 * Serves kinds from a store as a Kubernetes-style API: discovery, OpenAPI, lists, watches, patches
 * and server-side apply. Resolves when the server is ready. Throws if the kinds contradict each
 * other, or if the server would be open to others than this machine.
 *
 * @example
 * ```ts
 * const server = await startApiServer({
 *   kinds: [Fischer],
 *   storage: await openStorage({ directory: 'data' }),
 *   port: 8080,
 * });
 * process.once('SIGTERM', () => void server.stop());
 * ```
 */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const disposables = new DisposableStack();
  disposables.add(() => options.storage.close());
  try {
    return await start(await contextOf(options, disposables));
  } catch (error) {
    await disposables.release().catch(() => {
      /* The first error says more. */
    });
    throw error;
  }
}

async function contextOf(
  options: ApiServerOptions,
  disposables: DisposableStack,
): Promise<StartContext> {
  const { token, kinds } = options;
  checkOptions(options);
  const authenticators =
    options.authenticators ??
    (token === undefined ? [] : [bearerToken(token, { user: 'operator' })]);
  const log = options.log ?? createLog('warn');
  return {
    options,
    component: options.component ?? kinds[0]?.group.split('.')[0] ?? '',
    keys: options.keys ?? new Keys(newKeys()),
    log,
    authenticators,
    authorizer: options.authorize
      ? waitingAuthorizer(options.authorize)
      : permitAll({ anonymous: authenticators.length === 0 }),
    // Slow to load, and of use to few.
    metrics: options.metrics
      ? new (await import('../../observability/metrics/api-server-metrics.js')).ApiServerMetrics(
          log,
        )
      : undefined,
    disposables,
  };
}

/** The checks that every server has. */
const ownChecks = ['ping', 'storage', 'startup', 'shutdown'];

/** Throws an Error for options that contradict each other, with what to set. */
function checkOptions({
  requestHeader,
  clientCA,
  certificate,
  authorize,
  checks = [],
}: ApiServerOptions): void {
  const option = requestHeader ? 'requestHeader' : clientCA && 'clientCA';
  if (option && !certificate) {
    throw new Error(`${option} needs certificate: users and proxies show theirs over TLS`);
  }
  if (option && !authorize) {
    throw new Error(
      `${option} needs authorize: without it, everyone of that authority could change everything`,
    );
  }
  const names = [...ownChecks, ...checks.map(({ name }) => name)];
  const wrong = names.find((name, i) => !/^[a-z0-9-]+$/.test(name) || names.indexOf(name) < i);
  if (wrong !== undefined) {
    throw new Error(
      `a health check has a name of its own of lower-case letters, digits and - (got "${wrong}")`,
    );
  }
}

/** Returns an authorizer that permits everything to those who are known, or also to anyone. */
function permitAll({ anonymous }: { anonymous: boolean }): Authorizer {
  const decide: Authorizer['decideQuietly'] = ({ caller, action }) => ({
    allowed:
      anonymous || caller.type !== 'Anonymous' || action === 'discovery' || action === 'health',
    reasons: [],
  });
  return { decide, decideQuietly: decide };
}

/** Reports whether anyone who reaches the server may do everything. */
const isOpen = ({ options, authenticators }: StartContext): boolean =>
  authenticators.length === 0 && !options.authorize;

async function start(context: StartContext): Promise<ApiServer> {
  const { options, disposables } = context;
  const endpoint = await endpointOf(context);
  const store = await openStore(context, endpoint);
  startOutbox(context, store);
  await startControllers(context, store);
  const compaction = { intervalMs: options.compactionIntervalMs ?? 5 * minuteMs };
  disposables.add(startCompactor(options.storage, compaction));
  const server = createServer(context, store, endpoint);
  disposables.add(() => server.stop({ delayMs: options.shutdownDelayMs ?? 0 }));
  if (context.metrics) observe(context, context.metrics, server, store);
  const { address, port } = endpoint;
  await server.listen(port, address, certificateOf(options));
  server.ready();
  const host = address.includes(':') ? `[${address}]` : address;
  const url = `${schemeOf(options)}://${host}:${port}`;
  return { url, store, stop: () => disposables.release() };
}

/** Reads at each scrape what the server does, and when its certificate expires. */
function observe(
  { options: { certificate }, disposables }: StartContext,
  metrics: ApiServerMetrics,
  server: Server,
  store: Store,
): void {
  observeServer(metrics, { server, store }, disposables);
  if (certificate) metrics.certificates.set('serving', () => certificate.cert);
}

const schemeOf = ({ certificate }: ApiServerOptions) => (certificate ? 'https' : 'http');

function certificateOf({ certificate }: ApiServerOptions): ServingCertificate | undefined {
  return (
    certificate && {
      minVersion: certificate.minVersion ?? 'TLSv1.2',
      get cert() {
        return certificate.cert;
      },
      get key() {
        return certificate.key;
      },
      onChange: (listener) => certificate.onChange?.(listener),
    }
  );
}

async function endpointOf(context: StartContext): Promise<Endpoint> {
  const { address = '127.0.0.1', port: wanted = 0, baseURL } = context.options;
  if (isOpen(context) && !isLoopback(address)) {
    throw new Error(
      `anyone who reaches ${address} could change everything: set a token, authenticators or authorize`,
    );
  }
  const port = wanted === 0 ? await freePort(address) : wanted;
  return { address, port, baseURL: baseURL ?? `${schemeOf(context.options)}://localhost:${port}` };
}

async function openStore(context: StartContext, { baseURL }: Endpoint): Promise<Store> {
  const { options, component, keys, log, authorizer, disposables } = context;
  const { kinds, actions = [], storage } = options;
  const registry = new Registry(kinds, actions);
  await followVersions(context, registry);
  const watchCache = new WatchCache(storage, kinds, log);
  const settings = {
    component,
    baseURL,
    limitFactor: 1,
    limits: { ...defaultsOf(serverLimits), ...options.limits },
    epoch: await readEpoch(storage),
    ...options.settings,
  } as Settings;
  const store = new Store({ storage, registry, watchCache, keys, settings });
  store.connect({ authorizer, ports: () => portsOf(options) });
  disposables.add(() => watchCache.stop());
  await watchCache.start();
  disposables.add(await store.indexes.start(log));
  return store;
}

/**
 * Brings the objects of each group to the version of this server as soon as all servers of the store
 * read it.
 */
async function followVersions(
  { options: { storage }, log, disposables }: StartContext,
  registry: Registry,
): Promise<void> {
  const groups: StoredVersions[] = [];
  for (const group of registry.groups) {
    groups.push(await StoredVersions.open(storage, registry, group));
  }
  const facts = (): VersionFacts => ({
    versions: Object.fromEntries(groups.map(({ group, own }) => [group, own])),
  });
  if (!storage.readsInProcess) disposables.add(await startReplicaRecord(storage, facts));
  for (const versions of groups) disposables.add(startMigration(versions, storage, log));
}

const portsOf = ({ ports = {} }: ApiServerOptions): Ports => ports as Ports;

function startOutbox({ options, keys, log, disposables }: StartContext, store: Store): void {
  const { workers = [] } = options;
  if (workers.length === 0) return;
  const outbox = new Outbox(store, keys, log);
  for (const worker of workers) outbox.register(worker);
  outbox.start();
  disposables.add(() => outbox.stop());
}

async function startControllers(
  { options, log, disposables }: StartContext,
  store: Store,
): Promise<void> {
  const reconcilers = options.reconcilers ?? [];
  const controllers = reconcilers.map((reconciler) => new Controller(store, reconciler, log));
  for (const controller of [new GarbageCollector(store, log), ...controllers]) {
    disposables.add(() => controller.stop());
    await controller.start();
  }
}

const bearer: SecurityScheme = {
  type: 'http',
  scheme: 'bearer',
  description: 'A token that this server knows (RFC 6750 §2.1).',
};

/** Returns a sink whose failures are logged and counted: no request waits for it or fails by it. */
function auditTo(
  sink: AuditSink,
  { log, metrics }: Pick<StartContext, 'log' | 'metrics'>,
): AuditSink {
  return {
    write(event) {
      try {
        sink.write(event);
        metrics?.auditEvents.inc();
      } catch (error) {
        metrics?.auditErrors.inc({ plugin: 'sink' });
        log.error({ err: error }, 'audit event is lost');
      }
    },
  };
}

function createServer(context: StartContext, store: Store, { baseURL }: Endpoint): Server {
  const { options, component, keys, log, authenticators, authorizer, metrics } = context;
  const { requestHeader, clientCA, audit } = options;
  const checks: readonly HealthCheck[] = [storageCheck(store), ...(options.checks ?? [])];
  return new Server({
    release: options.release ?? '0.0.0',
    description: {
      title: component,
      description: `The API ${store.registry.groups.map(({ apiVersion }) => apiVersion).join(', ')}.`,
      ...options.description,
      securitySchemes: authenticators.length > 0 ? { bearer } : {},
    },
    store,
    keys,
    log,
    baseURL,
    // A page whose name was pointed to this machine (DNS rebinding) must not count as a client.
    ...(isOpen(context) && {
      allowedHost: { url: new URL(baseURL), reason: 'without authentication' },
    }),
    authenticators,
    authorizer,
    ports: () => portsOf(options),
    limits: store.networkLimits,
    checks,
    ...(requestHeader && { proxyTrust: proxyTrust(requestHeader, log) }),
    ...(clientCA && { clientAuthorities: clientAuthorities(clientCA, log) }),
    ...(audit && { audit: auditTo(audit, context) }),
    ...(metrics && { metrics, servesMetrics: true }),
  });
}
