import type { Caller, CallerFacts } from '../../registry/caller.js';

/** A signed-in person, by session cookie or by token; `groups` are the Groups, sorted by name. */
export interface AccountCaller extends CallerFacts {
  readonly type: 'Account';
  readonly account: string;
  /** The verified address, lower case: what Groups list. */
  readonly email: string;
  /** Whether it is in Group `operators`. */
  readonly operator: boolean;
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

declare module '../../registry/caller.js' {
  interface CallerTypes {
    /** A browser with the cookie of this interaction. */
    Browser: { readonly type: 'Browser'; readonly interaction: string };
    Account: AccountCaller;
    /** An app, of which policy decides. */
    Client: { readonly type: 'Client'; readonly client: string };
  }
}

/**
 * Returns a caller as others read it in an object: the name of an Account or of a cluster user,
 * otherwise its type.
 */
export const authorName = ({ type, user }: Caller): string => user ?? type;

/** Returns who made a change, as an object of operators says it; vestibule if the service did. */
export const changeAuthor = (caller: Caller): string =>
  caller.type === 'System' ? 'vestibule' : authorName(caller);
