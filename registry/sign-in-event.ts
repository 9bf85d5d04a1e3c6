import type { IncomingMessage } from 'node:http';

/** A try to sign in, or a request for tokens, as the audit log and the log name it. */
export interface SignInEvent {
  /** The account that signed in, or that the tokens are of. */
  account?: string | undefined;
  /** The address it was about; logs hold a keyed hash of it alone. */
  address?: string | undefined;
  client?: string | undefined;
  /** How: a method of sign-in, or a grant type. */
  method?: string;
  outcome?: string | undefined;
  /** Why it was not granted: a reason of this API, or an error code of OAuth. */
  reason?: string | undefined;
}

const events = new WeakMap<IncomingMessage, SignInEvent>();

/**
 * Adds to what the logs will say of the sign-in that a request tries; what is said later of the
 * same holds.
 */
export function noteSignIn(request: IncomingMessage, facts: SignInEvent): void {
  events.set(request, { ...events.get(request), ...facts });
}

/** Returns what is known of the sign-in that a request tried; undefined where it tried none. */
export const signInEventOf = (request: IncomingMessage): SignInEvent | undefined =>
  events.get(request);
