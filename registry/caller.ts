/** What the server knows of a caller of any type: Kubernetes' user.Info, and what follows from it. */
export interface CallerFacts {
  /** The username in messages, audit events and access reviews; absent for one without a name. */
  readonly user?: string;
  /** Distinguishes users who had one name at different times. */
  readonly uid?: string | undefined;
  readonly groups?: readonly string[];
  /** Further attributes of the user, by name. */
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The owner whose objects are its own, of kinds with an `owner`. */
  readonly owner?: string;
  /** Whether it runs the server: a refusal names the flag that sets the limit. */
  readonly operator?: boolean;
  /** The session of the page that it is; its watches are counted by it. */
  readonly session?: string;
  /** Whether it presented an access token: a refusal may be a challenge (RFC 6750, RFC 9470). */
  readonly byToken?: true;
  /**
   * Until when it is known to be who it is, in milliseconds since the epoch; absent if its credential
   * has to be verified again to know.
   */
  readonly expires?: number;
}

/** The callers by type; kinds add theirs by declaration merging, with facts of their own. */
export interface CallerTypes {
  Anonymous: { readonly type: 'Anonymous' };
  /** A user as a cluster names users: of a front proxy, a client certificate or a token. */
  ClusterUser: {
    readonly type: 'ClusterUser';
    readonly user: string;
    readonly groups: readonly string[];
  };
  /** The service itself: workers, manifests. */
  System: { readonly type: 'System' };
}

/** The caller of a request; each request has exactly one. */
export type Caller = CallerFacts & CallerTypes[keyof CallerTypes];

/** The caller without a credential. */
export const anonymous: Caller = { type: 'Anonymous' };

/** UserInfo of authentication.k8s.io. */
interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: CallerFacts['extra'];
}

/** Returns the caller as Kubernetes names users; undefined for one without a name. */
export function userInfo({ type, user, uid, groups = [], extra }: Caller): UserInfo | undefined {
  if (user === undefined) return undefined;
  return {
    username: user,
    ...(uid !== undefined && { uid }),
    groups: type === 'ClusterUser' ? groups : [...groups, 'system:authenticated'],
    ...(extra && { extra }),
  };
}
