import type { ClientContext, KoaContext, ProviderContext, TokenContext } from 'oidc-provider';
import type { AppearanceIndex } from '../../kinds/appearance/appearance-index.js';
import type { ScopeIndex } from '../../kinds/apps/claims/scope-index.js';
import type { Scope } from '../../kinds/apps/claims/scopes.js';
import type { Client } from '../../kinds/apps/client/client.js';
import type { Grant } from '../../kinds/apps/grant.js';
import type { SignInMetrics } from '../../kinds/interaction/sign-in-metrics.js';
import type { Account } from '../../kinds/people/account/account.js';
import type { Memberships } from '../../kinds/people/group/membership-index.js';
import type { OperatorPasskeys } from '../../kinds/people/group/operator-passkeys.js';
import type { Session } from '../../kinds/people/session/session.js';
import type { Log } from '../../observability/log.js';
import type { Metrics } from '../../observability/metrics/metrics.js';
import type { Authorizer } from '../../registry/authorizer.js';
import type { ObjectOf, Settings } from '../../registry/kind.js';
import type { Store } from '../../registry/store/store.js';
import type { Keys } from '../../security/keyring.js';
import type { ClientReports } from './client-reports.js';
import type { CookieNames } from './cookies.js';
import type { Fetch } from './egress-fetch.js';
import type { Records } from './records.js';
import type { ClaimsReviewRequest, ReviewedClaims } from './review.js';
import type { SignInCheck } from './sign-in-check.js';

/** The objects that the provider reads and writes. */
export type AccountObject = ObjectOf<typeof Account>;
export type ClientObject = ObjectOf<typeof Client>;
export type GrantObject = ObjectOf<typeof Grant>;
export type SessionObject = ObjectOf<typeof Session>;

/** The keys of this service, and the library's objects that are sealed with them. */
export interface Secrets {
  readonly keys: Keys;
  readonly records: Records;
  readonly epoch: number;
}

/** What the process offers to all that runs in it. */
export interface Runtime {
  readonly log: Log;
  /** Absent without a metrics port. */
  readonly metrics?: Metrics | undefined;
  /** Counts an event. */
  count(event: string): void;
  /** Runs work in the background; failures are counted. */
  runInBackground(work: () => Promise<unknown>): void;
}

/** The policy, and the facts about a person that it decides by. */
export interface PolicyServices {
  readonly authorizer: Authorizer;
  readonly groups: Pick<Memberships, 'cachedGroupsOf' | 'groupsOf'>;
  readonly operatorPasskeys: Pick<OperatorPasskeys, 'currentFacts'>;
}

/** The scopes, and the claims providers that supply them. */
export interface ClaimsServices {
  readonly scopeIndex: Pick<ScopeIndex, 'provider' | 'scopes' | 'settled'>;
  /** Returns the current scopes. */
  scopes(): readonly Scope[];
  readonly fetch: Fetch;
  readonly reviews: { requestClaims(asking: ClaimsReviewRequest): Promise<ReviewedClaims> };
}

/** What the pages of the provider need. */
export interface PageServices {
  readonly cookies: CookieNames;
  /** The Appearance; when it changes, a new Provider is built. */
  readonly appearance: Pick<AppearanceIndex, 'current'>;
  /** Returns the URL paths of the files that all pages share. */
  readonly sharedAssets: { readonly stylesheet: string; readonly icon: string };
}

/** What is known about sign-ins beyond their own objects. */
export interface SignInServices {
  readonly metrics: SignInMetrics;
  readonly clientReports: ClientReports;
  readonly signInCheck: Pick<SignInCheck, 'follow'>;
  /** Records activity of a sign-in's browser. */
  noteActivity(name: string): void;
}

/** The services that the modules of the provider share. */
export interface ProviderServices {
  readonly store: Store;
  readonly settings: Settings;
  readonly secrets: Secrets;
  readonly runtime: Runtime;
  readonly policy: PolicyServices;
  readonly claims: ClaimsServices;
  readonly pages: PageServices;
  readonly signIns: SignInServices;
}

/** Whether a Client requests a token, so that oidc-provider has found what it presented. */
export const isTokenRequest = (ctx: ClientContext): ctx is TokenContext =>
  ctx.oidc.route === 'token';

/** Whether a request is for one of oidc-provider's endpoints. */
export const isRouted = (ctx: KoaContext): ctx is ProviderContext => ctx.oidc !== undefined;
