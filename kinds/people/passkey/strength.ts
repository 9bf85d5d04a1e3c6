import type { ConditionState } from '../../../registry/schema/conditions.js';
import {
  fromTimestamp,
  toLaterTimestamp,
  toTimestamp,
} from '../../../registry/schema/timestamp.js';
import { phishingResistant } from '../session/acr.js';

/** The part of a passkey's status that decides the strength of a sign-in. */
export interface PasskeyStrength {
  readonly fullStrengthTimestamp: string;
}

/**
 * Returns true if a sign-in with the passkey counts as phishing-resistant at `now` (ms since the
 * epoch).
 */
export const hasFullStrength = ({ fullStrengthTimestamp }: PasskeyStrength, now: number): boolean =>
  fromTimestamp(fullStrengthTimestamp) <= now;

/**
 * The sign-in that a passkey is registered after; `acr` as Clients receive it. `isSignUp` is false for
 * a sign-up at an address that was in use before (`isTakenAddress`).
 */
export interface RegisteredAfter {
  readonly isSignUp?: boolean | undefined;
  readonly isTakenAddress?: boolean | undefined;
  readonly acr: string;
}

/**
 * Returns when a passkey registered at `now` reaches full strength: at once after a sign-up or a
 * phishing-resistant sign-in, else after `waitMs`, the wait of a recovery, so that its owner can
 * notice it. Without the wait, access to a mailbox would yield a full-strength passkey.
 */
export function fullStrengthTimestampOf(
  { isSignUp = false, acr }: RegisteredAfter,
  now: number,
  waitMs: number,
): string {
  const isFull = isSignUp || acr === phishingResistant;
  return isFull ? toTimestamp(now) : waitEndTimestamp(now, waitMs);
}

/** Returns when a wait of `waitMs` ends that begins at `now` (ms since the epoch), in whole seconds. */
export const waitEndTimestamp = (now: number, waitMs: number): string =>
  toLaterTimestamp(now + waitMs);

/** Returns the state of the condition FullStrength at `now` (ms since the epoch). */
export const fullStrengthState = (status: PasskeyStrength, now: number): ConditionState =>
  hasFullStrength(status, now)
    ? {
        type: 'FullStrength',
        status: 'True',
        reason: 'Counts',
        message: 'Sign-ins with it count as phishing-resistant.',
      }
    : {
        type: 'FullStrength',
        status: 'False',
        reason: 'Waiting',
        message:
          'It was added after a sign-in by mail, or the address of its account was in use before. ' +
          'Sign-ins with it count as phishing-resistant ' +
          `from ${status.fullStrengthTimestamp}.`,
      };
