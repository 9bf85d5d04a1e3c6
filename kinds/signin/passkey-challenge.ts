import { randomBytes } from 'node:crypto';
import { z } from 'zod';

/** What a passkey challenge is for: to sign in, or to add a passkey. */
export const Purpose = z.enum(['Authenticate', 'Register']);
export type Purpose = z.infer<typeof Purpose>;

/** For how long a challenge counts, on our clock, in ms (docs/design/security.md#passkeys). */
export const challengeLifetimeMs = 300_000;

const Challenge = z.object({
  /** 32 random bytes, base64url. */
  challenge: z.string(),
  /** Milliseconds since the epoch. */
  expires: z.number().int(),
});

/**
 * The challenges in force, one a purpose, inside the Interaction or Session that asked for them.
 */
export const Challenges = z.object({
  Authenticate: Challenge.optional(),
  Register: Challenge.optional(),
});

/** Anyone who keeps challenges. */
interface ChallengeHolder {
  passkeyChallenges?: z.infer<typeof Challenges> | undefined;
}

/** A challenge that no one was given before. */
export const newChallenge = (): string => randomBytes(32).toString('base64url');

/** Puts a challenge in force; the one before for the same purpose is over. */
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

/** The challenge to hold an answer to, and whether there was one that counts. */
export interface TakenChallenge {
  readonly challenge: string;
  readonly inForce: boolean;
}

const unanswerableChallenge = (): TakenChallenge => ({ challenge: newChallenge(), inForce: false });

/**
 * Takes the challenge in force away, whatever comes of the answer to it; where there is none that
 * counts, one that no answer can be to.
 */
export function takeChallenge(
  holder: ChallengeHolder,
  purpose: Purpose,
  now: number,
): TakenChallenge {
  const { [purpose]: held, ...others } = holder.passkeyChallenges ?? {};
  if (!held) return unanswerableChallenge();
  if (Object.keys(others).length > 0) holder.passkeyChallenges = others;
  else delete holder.passkeyChallenges;
  return now < held.expires
    ? { challenge: held.challenge, inForce: true }
    : unanswerableChallenge();
}

/** Ends every challenge of a holder. */
export function clearChallenges(holder: ChallengeHolder): void {
  delete holder.passkeyChallenges;
}
