/** The caller of a request; each request has exactly one. */
export type Caller =
  | { readonly type: 'Anonymous' }
  /** A browser with the cookie of this interaction. */
  | { readonly type: 'Browser'; readonly interaction: string }
  | AccountCaller
  /** A cluster user, authenticated by a trusted front proxy. */
  | {
      readonly type: 'ClusterUser';
      readonly user: string;
      readonly groups: readonly string[];
      readonly uid?: string;
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    }
  | { readonly type: 'Client'; readonly client: string }
  /** The service itself: workers, manifests, the provider. */
  | { readonly type: 'System' };

/** A signed-in person, by session cookie or by token. */
export interface AccountCaller {
  readonly type: 'Account';
  readonly account: string;
  /** The verified address, lower case: what Groups list. */
  readonly email: string;
  /** The Groups it is in, in order of their names. */
  readonly groups?: readonly string[];
  /** In Group `operators`. */
  readonly operator: boolean;
  readonly session?: string;
  /** Seconds since the epoch of the last proof. */
  readonly authenticated?: number;
  /** Until when that proof is recent, in seconds since the epoch. */
  readonly recentUntil?: number;
  readonly methods?: readonly string[];
  /** The acr of that proof. */
  readonly assurance?: string;
  /** How many passkeys the account has. */
  readonly passkeys?: number;
  /** Of an operator: whether any operator has a passkey. */
  readonly operatorsHavePasskeys?: boolean;
  /** Of an operator: whether any operator has a passkey that counts in full. */
  readonly operatorsHaveFullPasskeys?: boolean;
}
