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
      readonly uid?: string | undefined;
      readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
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
  /** Its Groups, sorted by name. */
  readonly groups?: readonly string[];
  /** Whether it is in Group `operators`. */
  readonly operator: boolean;
  readonly session?: string;
  /**
   * When the session ends, in milliseconds since the epoch; absent for a token, which has to be
   * verified again to know.
   */
  readonly expires?: number;
  /** Whether it presented an access token (RFC 6750). */
  readonly byToken?: true;
  /** The time of the last proof, in seconds since the epoch. */
  readonly authenticated?: number;
  /** The time until which that proof is recent, in seconds since the epoch. */
  readonly recentUntil?: number;
  readonly methods?: readonly string[];
  /** The acr of that proof. */
  readonly assurance?: string;
  /** When the account was created, in milliseconds since the epoch. */
  readonly created?: number;
  /** The number of passkeys of the account. */
  readonly passkeys?: number;
  /** For an operator: whether any operator has a passkey. */
  readonly operatorsHavePasskeys?: boolean;
  /** For an operator: whether any operator has a passkey that counts in full. */
  readonly operatorsHaveFullPasskeys?: boolean;
}

/**
 * Returns a caller as others read it in an object: the name of an Account or of a cluster user,
 * otherwise its type.
 */
export function authorName(caller: Caller): string {
  if (caller.type === 'Account') return caller.account;
  return caller.type === 'ClusterUser' ? caller.user : caller.type;
}
