import type { IncomingMessage, ServerResponse } from 'node:http';
import { SignInMetrics } from '../kinds/interaction/sign-in-metrics.js';
import type { Log } from '../observability/log.js';
import type { Metrics } from '../observability/metrics/metrics.js';
import type { Authenticator } from '../registry/authenticator.js';
import type { Authorizer } from '../registry/authorizer.js';
import type { Settings } from '../registry/kind.js';
import type { NetworkLimits } from '../registry/limits/network-limits.js';
import type { Outbox } from '../registry/store/outbox.js';
import type { Store } from '../registry/store/store.js';
import type { Keys } from '../security/keyring.js';
import type { Storage } from '../storage/storage.js';
import { UnfinishedSignIns } from './adapter/unfinished-sign-ins.js';
import {
  bearerAuthenticator,
  interactionAuthenticator,
  sessionAuthenticator,
} from './authenticators.js';
import { ClaimsReviewClient } from './claims/review-client.js';
import type { BuiltProvider } from './context/built-provider.js';
import { ClientReports } from './context/client-reports.js';
import type { ProviderServices } from './context/context.js';
import { cookieNames } from './context/cookies.js';
import { createFetch } from './context/egress-fetch.js';
import { Records } from './context/records.js';
import { SignInCheck } from './context/sign-in-check.js';
import { outsideUnitOfWork } from './context/unit-of-work.js';
import { createProvider } from './create-provider.js';
import { handleRequest } from './http/handle.js';
import type { PageRequest } from './http/language.js';
import { errorPage } from './http/pages.js';
import { shellLanguage, translateShell } from './http/shell-language.js';
import { grantsWorker, logoutWorker } from './logout-worker.js';
import { type ProviderPorts, portsOf } from './ports.js';

/** The dependencies of the provider. */
export interface ProviderDeps {
  readonly store: Store;
  readonly storage: Storage;
  /** The keys; when they change, a new Provider is built. */
  readonly keys: Keys;
  readonly settings: Settings;
  readonly authorize: Authorizer;
  /** Group membership by address. */
  readonly groups: ProviderServices['groups'];
  readonly operatorPasskeys: ProviderServices['operatorPasskeys'];
  readonly appearance: ProviderServices['appearance'];
  /** The claims providers and the scopes; when the scopes change, a new Provider is built. */
  readonly scopeIndex: ProviderServices['scopeIndex'];
  /** Returns the URL paths of the files that all pages share. */
  readonly sharedAssets: ProviderServices['sharedAssets'];
  readonly log: Log;
  readonly outbox: Outbox;
  readonly networkLimits?: NetworkLimits;
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
  /** The language of a page, and the page in it, until its script runs. */
  readonly shells: {
    languageOf(request: PageRequest): string;
    translate(page: string, language: string): string;
  };
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
  const services = createServices(deps, counts, runningTasks, (name) =>
    unfinishedSignIns.touch(name),
  );
  const unfinishedSignIns = new UnfinishedSignIns(services);
  let built: BuiltProvider = createProvider(services);
  deps.outbox.register(logoutWorker(services, (...notice) => built.notify(...notice)));
  deps.outbox.register(grantsWorker(services));
  deps.outbox.register(services.signInCheck.worker);
  const current = (): BuiltProvider =>
    (built =
      built.scopes === services.scopes() &&
      built.keysVersion === services.keys.version &&
      built.appearance === services.appearance.current
        ? built
        : createProvider(services));
  return {
    handle: async (request, response, network, auditID) => {
      if (auditID) response.setHeader('Audit-ID', auditID);
      if (services.scopeIndex.settled) await services.scopeIndex.settled;
      return handleRequest(services, current(), request, response, network);
    },
    authenticators: [
      interactionAuthenticator(services),
      sessionAuthenticator(services),
      bearerAuthenticator(services, () => current().provider),
    ],
    ports: (request, response) => portsOf(services, request, response),
    errorPage: (status, auditID, request) => errorPage(services, status, auditID, request),
    shells: {
      languageOf: shellLanguage,
      translate: (page, language) =>
        translateShell(page, language, new URL(services.settings.baseURL).host),
    },
    counts,
    unfinishedSignIns,
    settled: async () => {
      while (runningTasks.size > 0) await Promise.all(runningTasks);
    },
  };
}

function createServices(
  deps: ProviderDeps,
  counts: Map<string, number>,
  runningTasks: Set<Promise<unknown>>,
  noteActivity: ProviderServices['noteActivity'],
): ProviderServices & { readonly signInCheck: SignInCheck } {
  const {
    store,
    storage,
    keys,
    settings,
    authorize,
    groups,
    operatorPasskeys,
    scopeIndex,
    appearance,
    log,
    sharedAssets,
    networkLimits,
    metrics,
  } = deps;
  const count = (event: string): void => {
    counts.set(event, (counts.get(event) ?? 0) + 1);
  };
  const base = {
    store,
    storage,
    keys,
    settings,
    authorize,
    groups,
    operatorPasskeys,
    scopeIndex,
    appearance,
    log,
    sharedAssets,
    scopes: () => scopeIndex.scopes,
    epoch: settings.epoch,
    count,
    records: new Records(keys, settings.epoch),
    cookies: cookieNames(settings.baseURL),
    signIns: new SignInMetrics(metrics, count),
    metrics,
    fetch: createFetch(settings),
    noteActivity,
    ...(networkLimits && { networkLimits }),
    runInBackground: (work: () => Promise<unknown>): void => {
      const running: Promise<unknown> = outsideUnitOfWork(work)
        .catch(() => count('afterwards_failed'))
        .finally(() => runningTasks.delete(running));
      runningTasks.add(running);
    },
  };
  const clientReports = new ClientReports(base);
  const signInCheck = new SignInCheck({ ...base, clientReports });
  const all = { ...base, clientReports, signInCheck };
  return { ...all, reviews: new ClaimsReviewClient(all) };
}
