import { BoundedMap } from '../../security/bounded-map.js';

/**
 * Single events per owner and hour, owners tracked at a time, and refusals of all owners per
 * minute.
 */
const limits = { refusals: 60, changes: 120, owners: 50_000, allRefusals: 1_200 };
const hourMs = 3_600_000;
const minuteMs = 60_000;

/**
 * Limits how many decisions become objects of their own, per owner and hour on this replica. The
 * rest is counted in series.
 */
export class EventRateLimiter {
  readonly #spentByOwner = new BoundedMap<string, number>(limits.owners);
  #windowStart = 0;
  #allRefusals = { windowStart: 0, count: 0 };

  /**
   * Takes one of the owner's quota; `now` is in milliseconds of a monotonic clock. Returns whether
   * one was left.
   */
  take(type: 'refusals' | 'changes', owner: string, now = performance.now()): boolean {
    if (now - this.#windowStart >= hourMs) {
      this.#spentByOwner.clear();
      this.#windowStart = now;
    }
    const key = `${type} ${owner}`;
    const spent = this.#spentByOwner.get(key) ?? 0;
    if (spent >= limits[type]) return false;
    this.#spentByOwner.set(key, spent + 1);
    return true;
  }

  /** Takes one refusal of the owner's quota and of the quota of all owners per minute. */
  takeRefusal(owner: string, now = performance.now()): boolean {
    if (now - this.#allRefusals.windowStart >= minuteMs)
      this.#allRefusals = { windowStart: now, count: 0 };
    if (this.#allRefusals.count >= limits.allRefusals || !this.take('refusals', owner, now))
      return false;
    this.#allRefusals.count += 1;
    return true;
  }
}
