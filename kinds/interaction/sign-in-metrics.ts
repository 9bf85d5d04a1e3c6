import { Histogram, Counter } from '../../observability/counters.js';
import { StatusError, type Reason } from '../../registry/status.js';
import type { Taken } from '../signin/passkey-challenge.js';
import type { Method } from '../session/session.js';

/** What became of a try to sign in. */
const outcomes = ['SignedIn', 'Wrong', 'Expired', 'Refused', 'Limited', 'Failed'] as const;
type Outcome = (typeof outcomes)[number];
const methods = ['EmailCode', 'EmailLink', 'Passkey'] as const satisfies readonly Method[];

const byReason: Partial<Record<Reason, Outcome>> = {
  Invalid: 'Wrong',
  Expired: 'Expired',
  Conflict: 'Expired',
  Forbidden: 'Refused',
  TooManyRequests: 'Limited',
};

/** What became of a try that failed with this. */
export const outcomeOf = (error: unknown): Outcome =>
  error instanceof StatusError ? (byReason[error.reason] ?? 'Failed') : 'Failed';

/** Seconds from the beginning of a sign-in to the proof, which are a person's. */
const bounds: readonly number[] = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];

/** Tries to sign in, counted where they are made. */
export class SignInMetrics {
  readonly tries = new Counter(
    methods.flatMap((method) => outcomes.map((outcome) => `${method} ${outcome}` as const)),
  );
  readonly seconds = new Histogram(bounds);
  /** Proofs that were good for one use and came once more, or too late. */
  readonly refused = new Counter<'EmailCode' | 'EmailLink' | 'PasskeyChallenge'>([
    'EmailCode',
    'EmailLink',
    'PasskeyChallenge',
  ]);

  /** The challenge to hold an answer to; counts where there was none in force any more. */
  challengeOf({ challenge, inForce }: Taken): string {
    if (!inForce) this.refused.add('PasskeyChallenge');
    return challenge;
  }

  /** Counts a try by what comes of it, which is passed on. */
  async counted<T>(method: Method, begun: number, now: number, work: Promise<T>): Promise<T> {
    try {
      const done = await work;
      this.tries.add(`${method} SignedIn`);
      this.seconds.observe((now - begun) / 1000);
      return done;
    } catch (error) {
      const outcome = outcomeOf(error);
      this.tries.add(`${method} ${outcome}`);
      if (outcome === 'Expired' && method !== 'Passkey') this.refused.add(method);
      throw error;
    }
  }
}
