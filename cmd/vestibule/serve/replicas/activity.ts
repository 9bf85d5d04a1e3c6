import { activityMinutes, type ReplicaStatus } from '../../../../kinds/replica.js';
import { toTimestamp } from '../../../../registry/schema/timestamp.js';
import { minuteMs } from '../../../../registry/schema/units.js';

/** The sums of what a process counted since its start. */
export type Sums = Readonly<
  Record<Exclude<keyof ReplicaStatus['activity'], 'endTimestamp'>, number>
>;

const names: readonly (keyof Sums)[] = [
  'signIns',
  'signInsFailed',
  'mailsSent',
  'mailsFailed',
  'requestsRefused',
];

/** Turns totals into counts of each minute by the clock, so that minutes of replicas can be added. */
export class Activity {
  readonly #totals: () => Sums;
  readonly #counts = new Map(names.map((name): [keyof Sums, number[]] => [name, []]));
  #last: Sums;
  /** The minute, since the epoch, that is being counted. */
  #minute: number;

  /** Begins to count at `now`, in ms since the epoch; `totals` only grow. */
  constructor(totals: () => Sums, now: number) {
    this.#totals = totals;
    this.#last = totals();
    this.#minute = Math.floor(now / minuteMs);
  }

  /**
   * Returns the counts of all minutes that are over at `now`. What was counted since the last call
   * belongs to the first of the minutes that have ended since.
   */
  until(now: number): ReplicaStatus['activity'] {
    const minute = Math.floor(now / minuteMs);
    const ended = Math.min(minute - this.#minute, activityMinutes);
    if (ended > 0) {
      this.#end(ended);
      this.#minute = minute;
    }
    const counts = Object.fromEntries(this.#counts) as Record<keyof Sums, number[]>;
    return { endTimestamp: toTimestamp(this.#minute * minuteMs), ...counts };
  }

  #end(minutes: number): void {
    const totals = this.#totals();
    for (const [name, counts] of this.#counts) {
      const added = [totals[name] - this.#last[name], ...Array<number>(minutes - 1).fill(0)];
      this.#counts.set(name, [...counts, ...added].slice(-activityMinutes));
    }
    this.#last = totals;
  }
}
