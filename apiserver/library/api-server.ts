import { createLog, type Log } from '../../observability/log.js';
import type { Action } from '../../registry/action.js';
import type { Authenticator } from '../../registry/authenticator.js';
import {
  type AuthorizationAttributes,
  type Authorizer,
  authorizerOf,
} from '../../registry/authorizer.js';
import type { AnyKind, Decision, Ports, Settings } from '../../registry/kind.js';
import { defaultsOf, type Limits, serverLimits } from '../../registry/limits/limit-settings.js';
import { minuteMs } from '../../registry/schema/units.js';
import { Controller, type Reconciler } from '../../registry/store/controller.js';
import { Outbox, type Worker } from '../../registry/store/outbox.js';
import { Registry } from '../../registry/store/registry.js';
import { Store } from '../../registry/store/store.js';
import { StoredVersions } from '../../registry/store/stored-versions.js';
import { WatchCache } from '../../registry/watchcache/watch-cache.js';
import { DisposableStack } from '../../security/disposable-stack.js';
import { Keys, newKeys } from '../../security/keyring.js';
import { isLoopback } from '../../security/loopback.js';
import { startCompactor } from '../../storage/compactor.js';
import { readEpoch } from '../../storage/epoch.js';
import type { Storage } from '../../storage/storage.js';
import type { ApiDescription, SecurityScheme } from '../discovery/api-description.js';
import { storageCheck } from '../health.js';
import { freePort } from '../http/free-port.js';
import type { ServingCertificate } from '../listener.js';
import { Server } from '../server.js';
import { bearerToken } from './bearer-token.js';

/** What a server serves, from where, and to whom; only kinds and storage are required. */
export interface ApiServerOptions {
  /** The kinds, all of one API group and version. */
  readonly kinds: readonly AnyKind[];
  /** The store, which is closed with the server, or when the start fails. */
  readonly storage: Storage;
  readonly actions?: readonly Action[];
  /** The port; by default, and if it is 0, a free one. */
  readonly port?: number;
  /** The address to listen on; 127.0.0.1 by default. */
  readonly address?: string;
  /** The origin under which clients reach the server; by default that of address and port. */
  readonly baseURL?: string;
  /**
   * Certificate and key in PEM, for https instead of http; `onChange` announces renewed ones. kubectl
   * sends tokens by https only.
   */
  readonly certificate?: Pick<ServingCertificate, 'cert' | 'key'> & Partial<ServingCertificate>;
  /**
   * The token of the only user, `operator`, who may do everything. Without it and without
   * authenticators, anyone who reaches the server may, and it listens on loopback only.
   */
  readonly token?: string;
  /** Who asks, instead of the user of `token`; the first that knows a credential decides. */
  readonly authenticators?: readonly Authenticator[];
  /** Who may do what. By default everyone who is authenticated may do everything. */
  readonly authorize?: (attributes: AuthorizationAttributes) => Decision;
  /** The keys that seal continue tokens and outbox rows; by default new ones for each start. */
  readonly keys?: Keys;
  /** What kinds need from other components; `Ports` is extended by declaration merging. */
  readonly ports?: Partial<Ports>;
  /** Settings that kinds added to `Settings` by declaration merging. */
  readonly settings?: Partial<Settings>;
  /** The workers that run outbox rows. */
  readonly workers?: readonly Worker[];
  /** What brings objects to what they ask for: a controller each. */
  readonly reconcilers?: readonly Reconciler<AnyKind>[];
  /** Limits that differ from their defaults. */
  readonly limits?: Partial<Limits>;
  /** How long each revision stays readable at least, in milliseconds; 5 minutes by default. */
  readonly compactionIntervalMs?: number;
  /** The name of the server in events and managed fields; by default the group up to its first dot. */
  readonly component?: string;
  /** The version of the server's own code. */
  readonly release?: string;
  /** The title and description of the OpenAPI documents. */
  readonly description?: Pick<ApiDescription, 'title' | 'description' | 'license'>;
  /** By default warnings and errors on standard error. */
  readonly log?: Log;
}

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
    return await start(contextOf(options, disposables));
  } catch (error) {
    await disposables.release().catch(() => {
      /* The first error says more. */
    });
    throw error;
  }
}

function contextOf(options: ApiServerOptions, disposables: DisposableStack): StartContext {
  const { token, kinds } = options;
  const authenticators =
    options.authenticators ??
    (token === undefined ? [] : [bearerToken(token, { user: 'operator' })]);
  return {
    options,
    component: options.component ?? kinds[0]?.group.split('.')[0] ?? '',
    keys: options.keys ?? new Keys(newKeys()),
    log: options.log ?? createLog('warn'),
    authenticators,
    authorizer: authorizerOf(
      options.authorize ?? permitAll({ anonymous: authenticators.length === 0 }),
    ),
    disposables,
  };
}

/** Returns an authorizer that permits everything to those who are known, or also to anyone. */
const permitAll =
  ({ anonymous }: { anonymous: boolean }): Authorizer['decideQuietly'] =>
  ({ caller, action }) => ({
    allowed:
      anonymous || caller.type !== 'Anonymous' || action === 'discovery' || action === 'health',
    reasons: [],
  });

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
  disposables.add(() => server.stop());
  const { address, port } = endpoint;
  await server.listen(port, address, certificateOf(options));
  server.ready();
  const host = address.includes(':') ? `[${address}]` : address;
  const url = `${schemeOf(options)}://${host}:${port}`;
  return { url, store, stop: () => disposables.release() };
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
  const versions = await StoredVersions.open(storage, registry);
  if (storage.readsInProcess) disposables.add(advanceInBackground(versions, log));
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
  return store;
}

/** Rewrites objects of older versions of a store that no other server uses; returns what ends it. */
function advanceInBackground(versions: StoredVersions, log: Log): () => Promise<void> {
  const stop = new AbortController();
  const running = versions.advance([], stop.signal).catch((error: unknown) => {
    log.error({ err: error }, 'objects of older versions could not be rewritten');
  });
  return async () => {
    stop.abort();
    await running;
  };
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
  for (const reconciler of options.reconcilers ?? []) {
    const controller = new Controller(store, reconciler, log);
    disposables.add(() => controller.stop());
    await controller.start();
  }
}

const bearer: SecurityScheme = {
  type: 'http',
  scheme: 'bearer',
  description: 'A token that this server knows (RFC 6750 §2.1).',
};

function createServer(context: StartContext, store: Store, { baseURL }: Endpoint): Server {
  const { options, component, keys, log, authenticators, authorizer } = context;
  return new Server({
    release: options.release ?? '0.0.0',
    description: {
      title: component,
      description: `The API ${store.registry.apiVersion}.`,
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
    checks: [storageCheck(store)],
  });
}
