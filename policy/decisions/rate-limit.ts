/**
 * Decisions about one owner that are objects of their own in an hour, owners counted at a time, and
 * refusals of all that are objects of their own in a minute.
 */
const max = { refusals: 60, changes: 120, owners: 50_000, refusalsOfAll: 1_200 };
const hour = 3_600_000;
const minute = 60_000;

/**
 * How many more decisions may be objects of their own: of each owner so many refusals and so many
 * changes an hour on this replica; the rest is counted in series.
 */
export class EventRateLimiter {
  readonly #spent = new Map<string, number>();
  #since = 0;
  #ofAll = { since: 0, count: 0 };

  /**
   * Takes one for `owner` at `now`, in milliseconds of a clock that never goes back; whether there
   * was one left.
   */
  take(what: 'refusals' | 'changes', owner: string, now = performance.now()): boolean {
    if (now - this.#since >= hour) {
      this.#spent.clear();
      this.#since = now;
    }
    const key = `${what} ${owner}`;
    const spent = this.#spent.get(key) ?? 0;
    if (spent >= max[what]) return false;
    if (spent === 0 && this.#spent.size >= max.owners)
      this.#spent.delete(this.#spent.keys().next().value!);
    this.#spent.set(key, spent + 1);
    return true;
  }

  /** Takes a refusal of `owner`, where those of all owners in a minute leave one. */
  takeRefusal(owner: string, now = performance.now()): boolean {
    if (now - this.#ofAll.since >= minute) this.#ofAll = { since: now, count: 0 };
    if (this.#ofAll.count >= max.refusalsOfAll || !this.take('refusals', owner, now)) return false;
    this.#ofAll.count += 1;
    return true;
  }
}
