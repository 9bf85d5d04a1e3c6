import type { IncomingMessage, ServerResponse } from 'node:http';
import { SignInMetrics } from '../kinds/interaction/sign-in-metrics.js';
import type { Log } from '../observability/log.js';
import type { Metrics } from '../observability/metrics/metrics.js';
import type { Authenticator } from '../registry/authenticator.js';
import type { Authorizer } from '../registry/authorizer.js';
import type { Outbox } from '../registry/store/outbox.js';
import type { Store } from '../registry/store/store.js';
import type { Keys } from '../security/keyring.js';
import { UnfinishedSignIns } from './adapter/unfinished-sign-ins.js';
import {
  bearerAuthenticator,
  interactionAuthenticator,
  sessionAuthenticator,
} from './authenticators.js';
import { ClaimsReviewClient } from './claims/review-client.js';
import type { BuiltProvider } from './context/built-provider.js';
import { ClientReports } from './context/client-reports.js';
import type { ProviderServices, Runtime } from './context/context.js';
import { cookieNames } from './context/cookies.js';
import { outsideUnitOfWork } from './context/current-request.js';
import { createFetch } from './context/egress-fetch.js';
import { Records } from './context/records.js';
import { SignInCheck } from './context/sign-in-check.js';
import { createProvider } from './create-provider.js';
import { handleRequest } from './http/handle.js';
import type { PageRequest } from './http/language.js';
import { errorPage } from './http/pages.js';
import { grantsWorker, logoutWorker } from './logout-worker.js';
import { type ProviderPorts, portsOf } from './ports.js';

/** The dependencies of the provider. */
export interface ProviderDeps {
  readonly store: Store;
  /** The keys; when they change, a new Provider is built. */
  readonly keys: Keys;
  readonly authorizer: Authorizer;
  /** What it looks up at each request; when scopes or Appearance change, a new Provider is built. */
  readonly indexes: Pick<ProviderServices['policy'], 'groups' | 'operatorPasskeys'> &
    Pick<ProviderServices['pages'], 'appearance'> &
    Pick<ProviderServices['claims'], 'scopeIndex'>;
  /** Returns the URL paths of the files that all pages share. */
  readonly sharedAssets: ProviderServices['pages']['sharedAssets'];
  readonly log: Log;
  readonly outbox: Outbox;
  /** Absent without a metrics port. */
  readonly metrics?: Metrics | undefined;
}

/** The OpenID Connect provider as the server sees it. */
export interface IdentityProvider {
  /**
   * Serves `/oauth2/*` and the two well-known documents; `network` is the client's, for limits,
   * `auditID` is shown on error pages. Never rejects.
   */
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    network?: string,
    auditID?: string,
  ): Promise<string | undefined>;
  /**
   * Authenticators for the interaction cookie, the session cookie and access tokens of the command.
   */
  readonly authenticators: readonly Authenticator[];
  /** Returns the ports of kinds for one request. */
  ports(request?: IncomingMessage, response?: ServerResponse): ProviderPorts;
  /** Returns the page for an unknown path or an unavailable resource. */
  errorPage(status: number, auditID: string, request: PageRequest): string;
  /** Event counts by name. */
  readonly counts: ReadonlyMap<string, number>;
  /** The sign-ins that are not finished. */
  readonly unfinishedSignIns: UnfinishedSignIns;
  /** Resolves when background work has ended. */
  settled(): Promise<void>;
}

/** Creates the provider and registers its workers; call before the outbox starts. */
export function createIdentityProvider(deps: ProviderDeps): IdentityProvider {
  const counts = new Map<string, number>();
  const runningTasks = new Set<Promise<unknown>>();
  const runtime = createRuntime(deps, counts, runningTasks);
  const services = createServices(deps, runtime, (name) => unfinishedSignIns.touch(name));
  const unfinishedSignIns = new UnfinishedSignIns(services);
  let built: BuiltProvider = createProvider(services);
  deps.outbox.register(logoutWorker(services, (...notice) => built.notify(...notice)));
  deps.outbox.register(grantsWorker(services));
  deps.outbox.register(services.signIns.signInCheck.worker);
  const current = (): BuiltProvider =>
    (built =
      built.scopes === services.claims.scopes() &&
      built.keysVersion === services.secrets.keys.version &&
      built.appearance === services.pages.appearance.current
        ? built
        : createProvider(services));
  return {
    handle: async (request, response, network, auditID) => {
      if (auditID) response.setHeader('Audit-ID', auditID);
      if (services.claims.scopeIndex.settled) await services.claims.scopeIndex.settled;
      return handleRequest(services, current(), request, response, network);
    },
    authenticators: [
      interactionAuthenticator(services),
      sessionAuthenticator(services),
      bearerAuthenticator(services, () => current().provider),
    ],
    ports: (request, response) => portsOf(services, request, response),
    errorPage: (status, auditID, request) => errorPage(services, status, auditID, request),
    counts,
    unfinishedSignIns,
    settled: async () => {
      while (runningTasks.size > 0) await Promise.all(runningTasks);
    },
  };
}

function createRuntime(
  { log, metrics }: ProviderDeps,
  counts: Map<string, number>,
  runningTasks: Set<Promise<unknown>>,
): Runtime {
  const count = (event: string): void => {
    counts.set(event, (counts.get(event) ?? 0) + 1);
  };
  return {
    log,
    metrics,
    count,
    runInBackground: (work) => {
      const running: Promise<unknown> = outsideUnitOfWork(work)
        .catch(() => count('afterwards_failed'))
        .finally(() => runningTasks.delete(running));
      runningTasks.add(running);
    },
  };
}

function createServices(
  deps: ProviderDeps,
  runtime: Runtime,
  noteActivity: (name: string) => void,
): ProviderServices & { readonly signIns: { readonly signInCheck: SignInCheck } } {
  const { store, keys, authorizer, sharedAssets } = deps;
  const { groups, operatorPasskeys, scopeIndex, appearance } = deps.indexes;
  const { settings } = store;
  const { epoch, baseURL } = settings;
  const base = {
    store,
    settings,
    runtime,
    secrets: { keys, epoch, records: new Records(keys, epoch) },
    policy: { authorizer, groups, operatorPasskeys },
    claims: { scopeIndex, scopes: () => scopeIndex.scopes, fetch: createFetch(settings) },
    pages: { appearance, sharedAssets, cookies: cookieNames(baseURL) },
  };
  const clientReports = new ClientReports(store, runtime.runInBackground);
  return {
    ...base,
    claims: { ...base.claims, reviews: new ClaimsReviewClient(base) },
    signIns: {
      metrics: new SignInMetrics(runtime.metrics, runtime.count),
      clientReports,
      signInCheck: new SignInCheck({ ...base, clientReports }),
      noteActivity,
    },
  };
}
