import type { Metrics } from '../../observability/metrics/metrics.js';
import { StatusError, type Reason } from '../../registry/status.js';
import type { Taken } from '../signin/passkey-challenge.js';
import type { Method } from '../session/session.js';

/** What became of a try to sign in. */
type Outcome = 'SignedIn' | 'Wrong' | 'Expired' | 'Refused' | 'Limited' | 'Failed';

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

/** Counts tries to sign in, where they are made. */
export class SignInMetrics {
  readonly #metrics: Metrics | undefined;

  /** Counts nothing without `metrics`. */
  constructor(metrics?: Metrics) {
    this.#metrics = metrics;
  }

  /** The challenge to hold an answer to; counts where there was none in force any more. */
  challengeOf({ challenge, inForce }: Taken): string {
    if (!inForce) this.#metrics?.singleUseRefused.inc({ kind: 'PasskeyChallenge' });
    return challenge;
  }

  /** Counts a try by what comes of it, which is passed on. */
  async counted<T>(method: Method, begun: number, now: number, work: Promise<T>): Promise<T> {
    try {
      const done = await work;
      this.#metrics?.signIns.inc({ method, outcome: 'SignedIn' });
      this.#metrics?.signInDuration.observe((now - begun) / 1000);
      return done;
    } catch (error) {
      const outcome = outcomeOf(error);
      this.#metrics?.signIns.inc({ method, outcome });
      if (outcome === 'Expired' && method !== 'Passkey')
        this.#metrics?.singleUseRefused.inc({ kind: method });
      throw error;
    }
  }
}
