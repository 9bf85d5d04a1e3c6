import type { IncomingMessage } from 'node:http';
import type { Awaitable, Caller } from './kind.js';

/** The credentials of a request. */
export interface AuthenticationRequest {
  readonly request: IncomingMessage;
  /** Returns a cookie's value; undefined if it is absent or was sent with two values. */
  cookie(name: string): string | undefined;
  /** The name of the requested object, if its kind has holders. */
  readonly boundName?: string;
}

/**
 * Authenticates a request; undefined if the credential is not for this authenticator. Throws 401
 * for an invalid credential.
 */
export type Authenticator = (request: AuthenticationRequest) => Awaitable<Caller | undefined>;
