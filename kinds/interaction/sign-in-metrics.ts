import type { Metrics } from '../../observability/metrics/metrics.js';
import { type Reason, StatusError } from '../../registry/status/status.js';
import type { Method } from '../people/session/session.js';
import type { TakenChallenge } from '../signin/passkey-challenge.js';

/** The outcome of a sign-in attempt; the values of the metric's `outcome` label. */
type Outcome = 'SignedIn' | 'Wrong' | 'Expired' | 'Refused' | 'Limited' | 'Failed';

const byReason: Partial<Record<Reason, Outcome>> = {
  Invalid: 'Wrong',
  Expired: 'Expired',
  Conflict: 'Expired',
  Forbidden: 'Refused',
  TooManyRequests: 'Limited',
};

/** Returns the outcome of an attempt that failed with this error. */
export const outcomeOf = (error: unknown): Outcome =>
  error instanceof StatusError ? (byReason[error.reason] ?? 'Failed') : 'Failed';

/** Counts sign-in attempts. */
export class SignInMetrics {
  readonly #metrics: Metrics | undefined;
  readonly #count: ((event: string) => void) | undefined;

  /** `count` counts events of this process, also without a metrics port. */
  constructor(metrics?: Metrics, count?: (event: string) => void) {
    this.#metrics = metrics;
    this.#count = count;
  }

  /** Returns the challenge to verify against; counts a refused reuse if none was in force. */
  challengeOf({ challenge, inForce }: TakenChallenge): string {
    if (!inForce) this.#metrics?.singleUseRefused.inc({ kind: 'PasskeyChallenge' });
    return challenge;
  }

  /**
   * Counts an attempt by its outcome and returns its result; `begun` and `now` in ms since the
   * epoch.
   */
  async countAttempt<T>(method: Method, begun: number, now: number, work: Promise<T>): Promise<T> {
    try {
      const done = await work;
      this.#count?.(`sign_in.succeeded.${method}`);
      this.#metrics?.signIns.inc({ method, outcome: 'SignedIn' });
      this.#metrics?.signInDuration.observe((now - begun) / 1000);
      return done;
    } catch (error) {
      const outcome = outcomeOf(error);
      this.#count?.(`sign_in.failed.${outcome}`);
      this.#metrics?.signIns.inc({ method, outcome });
      if (outcome === 'Expired' && method !== 'Passkey') {
        this.#metrics?.singleUseRefused.inc({ kind: method });
      }
      throw error;
    }
  }
}
