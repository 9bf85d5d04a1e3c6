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
import type { NetworkLimits } from '../../registry/limits/network-limits.js';
import type { Store } from '../../registry/store/store.js';
import type { Keys } from '../../security/keyring.js';
import type { Storage } from '../../storage/storage.js';
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

/** The services that the modules of the provider share. */
export interface ProviderServices {
  readonly store: Store;
  readonly storage: Storage;
  readonly keys: Keys;
  readonly settings: Settings;
  readonly authorize: Authorizer;
  readonly log: Log;
  readonly records: Records;
  readonly cookies: CookieNames;
  readonly fetch: Fetch;
  readonly epoch: number;
  /** The Appearance; when it changes, a new Provider is built. */
  readonly appearance: Pick<AppearanceIndex, 'current'>;
  readonly groups: Pick<Memberships, 'cachedGroupsOf' | 'groupsOf'>;
  readonly operatorPasskeys: Pick<OperatorPasskeys, 'currentFacts'>;
  readonly networkLimits?: NetworkLimits;
  readonly reviews: { requestClaims(asking: ClaimsReviewRequest): Promise<ReviewedClaims> };
  readonly scopeIndex: Pick<ScopeIndex, 'provider' | 'scopes' | 'settled'>;
  readonly signIns: SignInMetrics;
  readonly clientReports: ClientReports;
  readonly signInCheck: Pick<SignInCheck, 'follow'>;
  /** Records activity of a sign-in's browser. */
  noteActivity(name: string): void;
  /** Returns the current scopes. */
  scopes(): readonly Scope[];
  /** Returns the URL paths of the files that all pages share. */
  sharedAssets(): { readonly stylesheet: string; readonly icon: string };
  /** Absent without a metrics port. */
  readonly metrics?: Metrics | undefined;
  /** Counts an event. */
  count(event: string): void;
  /** Runs work in the background; failures are counted. */
  runInBackground(work: () => Promise<unknown>): void;
}
