import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { minuteMs } from '../../registry/schema/units.js';

/** The purpose of a challenge: to sign in or to register a passkey. */
export const Purpose = z.enum(['Authenticate', 'Register']);
export type Purpose = z.infer<typeof Purpose>;

/** The lifetime of a challenge on the server's clock, in ms (docs/design/security.md#passkeys). */
export const challengeLifetimeMs = 5 * minuteMs;

const Challenge = z.object({
  /** 32 random bytes, base64url. */
  challenge: z.string(),
  /** Milliseconds since the epoch. */
  expires: z.number().int(),
});

/**
 * The challenges in force, one for each purpose, inside the Interaction or Session that requested
 * them.
 */
export const Challenges = z.object({
  Authenticate: Challenge.optional(),
  Register: Challenge.optional(),
});

/** The internal part of an object that stores challenges. */
interface ChallengeHolder {
  passkeyChallenges?: z.infer<typeof Challenges> | undefined;
}

/** Returns a new random challenge. */
export const newChallenge = (): string => randomBytes(32).toString('base64url');

/** Stores a challenge; it replaces the previous one for the same purpose. */
export function putChallenge(
  holder: ChallengeHolder,
  purpose: Purpose,
  challenge: string,
  now: number,
): void {
  holder.passkeyChallenges = {
    ...holder.passkeyChallenges,
    [purpose]: { challenge, expires: now + challengeLifetimeMs },
  };
}

/** A challenge to verify against, and whether it was in force. */
export interface TakenChallenge {
  readonly challenge: string;
  readonly inForce: boolean;
}

const unanswerableChallenge = (): TakenChallenge => ({ challenge: newChallenge(), inForce: false });

/**
 * Removes and returns the challenge in force, so that it is used up even if the response is
 * refused. Without one, returns a random challenge that no response can match.
 */
export function takeChallenge(
  holder: ChallengeHolder,
  purpose: Purpose,
  now: number,
): TakenChallenge {
  const { [purpose]: current, ...others } = holder.passkeyChallenges ?? {};
  if (!current) return unanswerableChallenge();
  if (Object.keys(others).length > 0) {
    holder.passkeyChallenges = others;
  } else {
    delete holder.passkeyChallenges;
  }
  return now < current.expires
    ? { challenge: current.challenge, inForce: true }
    : unanswerableChallenge();
}

/** Removes every challenge of a holder. */
export function clearChallenges(holder: ChallengeHolder): void {
  delete holder.passkeyChallenges;
}
