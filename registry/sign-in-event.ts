import type { IncomingMessage } from 'node:http';

/** A sign-in attempt or token request, as the logs record it. */
export interface SignInEvent {
  /** The account that signed in, or that the tokens belong to. */
  account?: string | undefined;
  /** The email address; logs contain only a keyed hash of it. */
  address?: string | undefined;
  client?: string | undefined;
  /** The sign-in method or grant type. */
  method?: string;
  outcome?: string | undefined;
  /** The reason of a refusal: a reason of this API, or an OAuth error code. */
  reason?: string | undefined;
}

const events = new WeakMap<IncomingMessage, SignInEvent>();

/** Adds facts about the sign-in of a request to the logs; later facts replace earlier ones. */
export function recordSignIn(request: IncomingMessage, facts: SignInEvent): void {
  events.set(request, { ...events.get(request), ...facts });
}

/** Returns the facts about the sign-in of a request, or undefined if it had none. */
export const signInEventOf = (request: IncomingMessage): SignInEvent | undefined =>
  events.get(request);
