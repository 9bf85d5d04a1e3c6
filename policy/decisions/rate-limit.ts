import type { Limits } from '../../registry/limits/limit-settings.js';
import { hourMs, minuteMs } from '../../registry/schema/units.js';
import { BoundedMap } from '../../security/bounded-map.js';

/** The number of owners that are tracked at a time. */
const maxOwners = 50_000;

/**
 * Limits how many decisions become objects of their own, per owner and hour on this replica. The
 * rest is counted in series.
 */
export class EventRateLimiter {
  readonly #limits: Limits;
  readonly #spentByOwner = new BoundedMap<string, number>(maxOwners);
  #windowStart = 0;
  #allRefusals = { windowStart: 0, count: 0 };

  constructor(limits: Limits) {
    this.#limits = limits;
  }

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
    const { recordedChanges, recordedRefusals } = this.#limits;
    if (spent >= (type === 'changes' ? recordedChanges : recordedRefusals)) return false;
    this.#spentByOwner.set(key, spent + 1);
    return true;
  }

  /** Takes one refusal of the owner's quota and of the quota of all owners per minute. */
  takeRefusal(owner: string, now = performance.now()): boolean {
    if (now - this.#allRefusals.windowStart >= minuteMs) {
      this.#allRefusals = { windowStart: now, count: 0 };
    }
    if (
      this.#allRefusals.count >= this.#limits.recordedRefusalsInAll ||
      !this.take('refusals', owner, now)
    ) {
      return false;
    }
    this.#allRefusals.count += 1;
    return true;
  }
}
