import type { IncomingMessage } from 'node:http';
import type { Caller } from './kind.js';

/** What an authenticator may look at. */
export interface AuthenticationRequest {
  readonly request: IncomingMessage;
  /**
   * The one value of a cookie; undefined when it is absent or two different values stand under its
   * name.
   */
  cookie(name: string): string | undefined;
  /** The name of the object of a `bound` kind that is asked for, if one is. */
  readonly bound?: string;
}

/**
 * Answers "who is this?", or undefined for "not mine to say"; throws 401 for a credential that is
 * not good and not merely stale.
 */
export type Authenticator = (
  presented: AuthenticationRequest,
) => Caller | undefined | Promise<Caller | undefined>;
