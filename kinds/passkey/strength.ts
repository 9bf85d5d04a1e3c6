import { toTimestamp } from '../../registry/timestamp.js';
import { phishingResistant } from '../session/acr.js';

/** What of a passkey's status says how strong a sign-in by it is. */
export interface PasskeyStrength {
  readonly fullStrengthTimestamp?: string | undefined;
}

/**
 * Whether a sign-in by a passkey counts in full at `now` (ms since the epoch). Passkeys that an
 * earlier release stored say nothing of it, and do.
 */
export const hasFullStrength = ({ fullStrengthTimestamp }: PasskeyStrength, now: number): boolean =>
  fullStrengthTimestamp === undefined || Date.parse(fullStrengthTimestamp) <= now;

/**
 * What a passkey is registered behind: the sign-in that made the account, or one of which Clients
 * are told this acr.
 */
export interface Binding {
  readonly isSignUp?: boolean | undefined;
  readonly acr: string;
}

/**
 * From when a passkey registered at `now` counts in full: at once where it is registered by the
 * sign-in that made the account or behind one that is itself phishing-resistant; else after the
 * wait (ms) of a recovery, during which its owner can see it. Otherwise a mailbox would become a
 * passkey.
 */
export function fullStrengthFrom(
  { isSignUp = false, acr }: Binding,
  now: number,
  wait: number,
): string {
  const isFull = isSignUp || acr === phishingResistant;
  return toTimestamp(isFull ? now : Math.ceil((now + wait) / 1000) * 1000);
}
