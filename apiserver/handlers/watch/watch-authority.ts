import type { AuthorityChanges } from '../../../registry/authority-changes.js';
import type { Caller } from '../../../registry/kind.js';

/** How long a check holds in milliseconds where no one says what changes. */
const uncertainMs = 2_000;

/**
 * Whether the caller of an open watch may still have it. A check holds until a change could end it, or
 * until the caller expires; that of a token or of a cluster user, for nothing but what follows at once.
 */
export class WatchAuthority {
  readonly #callerNow: () => Promise<Caller | undefined>;
  readonly #changes: AuthorityChanges | undefined;
  #holdsUntil: number;
  #isOver = false;
  /** Grows with each change; a check holds only for the changes before it. */
  #changeCount = 0;
  #checkedCount: number;

  /**
   * `callerNow` authorizes the request again; undefined if it is refused. `isCurrent` is whether nothing
   * changed since the request was received, so that its own authorization counts as the first check.
   */
  constructor(
    callerNow: () => Promise<Caller | undefined>,
    caller: Caller,
    changes: AuthorityChanges | undefined,
    isCurrent = false,
  ) {
    this.#callerNow = callerNow;
    this.#changes = changes;
    this.#checkedCount = isCurrent ? 0 : -1;
    this.#holdsUntil = this.#endOf(caller);
  }

  /** Notes that a change could have ended it. */
  invalidate(): void {
    this.#changeCount += 1;
  }

  /** Returns true if the last check still holds, so that no other is needed. */
  holds(): boolean {
    return (
      !this.#isOver &&
      this.#changes?.settle() === undefined &&
      this.#checkedCount === this.#changeCount &&
      Date.now() < this.#holdsUntil
    );
  }

  /** Checks again, after what was received is in force; returns whether the caller may go on. */
  async check(): Promise<boolean> {
    do {
      await this.#changes?.settle();
      const count = this.#changeCount;
      const caller = this.#isOver ? undefined : await this.#callerNow();
      this.#isOver = caller === undefined;
      if (!caller) return false;
      this.#checkedCount = count;
      this.#holdsUntil = this.#endOf(caller);
      void this.#changes?.settle(); // What ended by the clock during the check is a change, too.
    } while (this.#checkedCount !== this.#changeCount);
    return true;
  }

  #endOf(caller: Caller): number {
    if (!this.#changes) return Date.now() + uncertainMs;
    return caller.type === 'Anonymous' ? Infinity : (caller.expires ?? 0);
  }
}
