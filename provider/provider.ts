import type { IncomingMessage, ServerResponse } from 'node:http';
import { SignInMetrics } from '../kinds/interaction/sign-in-metrics.js';
import type { Authenticator } from '../registry/authenticator.js';
import type { Authorizer } from '../registry/authorizer.js';
import type { Settings } from '../registry/kind.js';
import type { Keys } from '../security/keyring.js';
import type { NetworkLimits } from '../registry/network-limits.js';
import type { Log } from '../observability/log.js';
import type { Metrics } from '../observability/metrics/metrics.js';
import type { Outbox } from '../registry/outbox.js';
import type { Store } from '../registry/store.js';
import type { Storage } from '../storage/storage.js';
import {
  bearerAuthenticator,
  interactionAuthenticator,
  sessionAuthenticator,
} from './authenticators.js';
import { cookieNames } from './context/cookies.js';
import type { BuiltProvider } from './context/built-provider.js';
import { createProvider } from './create-provider.js';
import { outsideUnitOfWork } from './context/unit-of-work.js';
import { createFetch } from './context/egress-fetch.js';
import type { ProviderServices } from './context/context.js';
import { answer } from './http/handle.js';
import { errorPage } from './http/pages.js';
import { portsOf, type ProviderPorts } from './ports.js';
import { Records } from './context/records.js';
import { UnprovenSignIns } from './adapter/unproven-sign-ins.js';
import { ClaimsReviewClient } from './claims/review-client.js';
import { grantsWorker, logoutWorker } from './logout-worker.js';

/** What the provider needs. */
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
  /**
   * The services that supply claims, and the scopes there are with them; where they are other ones,
   * a second Provider is built.
   */
  readonly suppliers: ProviderServices['suppliers'];
  /** The address of the shared style sheet. */
  readonly stylesheet: () => string;
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
  /** The page for a person who went where nothing is, or where nothing can be given now. */
  errorPage(status: number, auditID: string): string;
  /** Event counts by name. */
  readonly counts: ReadonlyMap<string, number>;
  /** Sign-ins without a proven person. */
  readonly unproven: UnprovenSignIns;
  /** Resolves when background work has ended. */
  settled(): Promise<void>;
}

/** Creates the provider and registers its workers; call before the outbox starts. */
export function createIdentityProvider(deps: ProviderDeps): IdentityProvider {
  const counts = new Map<string, number>();
  const under = new Set<Promise<unknown>>();
  const services = lay(deps, counts, under, (name) => unproven.touch(name));
  const unproven = new UnprovenSignIns(services);
  let made: BuiltProvider = createProvider(services);
  deps.outbox.register(logoutWorker(services, (...notice) => made.tell(...notice)));
  deps.outbox.register(grantsWorker(services));
  const current = (): BuiltProvider =>
    (made =
      made.scopes === services.scopes() && made.keys === services.keys.version
        ? made
        : createProvider(services));
  return {
    handle: async (request, response, network, auditID) => {
      if (auditID) response.setHeader('Audit-ID', auditID);
      if (services.suppliers.settled) await services.suppliers.settled;
      return answer(services, current(), request, response, network);
    },
    authenticators: [
      interactionAuthenticator(services),
      sessionAuthenticator(services),
      bearerAuthenticator(services, () => current().provider),
    ],
    ports: (request, response) => portsOf(services, () => current().provider, request, response),
    errorPage: (status, auditID) => errorPage(services, status, auditID),
    counts,
    unproven,
    settled: async () => {
      while (under.size > 0) await Promise.all(under);
    },
  };
}

function lay(
  deps: ProviderDeps,
  counts: Map<string, number>,
  under: Set<Promise<unknown>>,
  touched: ProviderServices['touched'],
): ProviderServices {
  const {
    store,
    storage,
    keys,
    settings,
    authorize,
    groups,
    operatorPasskeys,
    suppliers,
    log,
    stylesheet,
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
    suppliers,
    log,
    stylesheet,
    scopes: () => suppliers.scopes,
    epoch: settings.epoch,
    count,
    records: new Records(keys, settings.epoch),
    cookies: cookieNames(settings.baseURL),
    signIns: new SignInMetrics(metrics),
    metrics,
    fetch: createFetch(settings),
    touched,
    ...(networkLimits && { networkLimits }),
    afterwards: (work: () => Promise<unknown>): void => {
      const running: Promise<unknown> = outsideUnitOfWork(work)
        .catch(() => count('afterwards_failed'))
        .finally(() => under.delete(running));
      under.add(running);
    },
  };
  return { ...base, reviews: new ClaimsReviewClient(base) };
}
