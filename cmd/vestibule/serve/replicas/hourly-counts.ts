import {
  HourlyCount,
  type HourlyCountStatus,
  hourName,
  maxCountNames,
  otherName,
} from '../../../../kinds/hourly-count.js';
import type { Transaction } from '../../../../registry/kind.js';
import { toTimestamp } from '../../../../registry/schema/timestamp.js';
import { keysOf } from '../../../../registry/schema/typed-entries.js';
import { hourMs } from '../../../../registry/schema/units.js';

type Lists = Omit<HourlyCountStatus, 'startTimestamp'>;

/** What a process counted since its start: for each list of an HourlyCount, the counts by name. */
export type Totals = Readonly<Record<keyof Lists, ReadonlyMap<string, number>>>;

/** How many hours are written in one commit; more wait after a store was away for long. */
const hoursPerCommit = 20;

/** Splits what a process counts by the hour, and adds it to the HourlyCounts of all replicas. */
export class HourlyCounts {
  readonly #totals: () => Totals;
  #last: Totals;
  #lastAt: number;
  /** What is not written yet, by the hour that it happened in, in ms since the epoch. */
  readonly #unwritten = new Map<number, Lists>();

  /** Begins to count at `now`, in ms since the epoch; `totals` only grow. */
  constructor(totals: () => Totals, now: number) {
    this.#totals = totals;
    this.#last = totals();
    this.#lastAt = now;
  }

  /**
   * Takes over what was counted since the last call, a minute before. It belongs to the hour of the
   * middle between both, since timers are early or late by some milliseconds.
   */
  collect(now: number): void {
    const hour = Math.floor((this.#lastAt + now) / 2 / hourMs) * hourMs;
    const totals = this.#totals();
    const added = mapLists((list) =>
      [...totals[list]].flatMap(([name, total]) => {
        const count = total - (this.#last[list].get(name) ?? 0);
        return count > 0 ? [{ name, count, lastTimestamp: toTimestamp(now) }] : [];
      }),
    );
    this.#last = totals;
    this.#lastAt = now;
    if (keysOf(added).every((list) => added[list].length === 0)) return;
    this.#unwritten.set(hour, addLists(this.#unwritten.get(hour) ?? noCounts, added));
  }

  /**
   * Adds what is not written yet in a transaction. It is written when this commits; until then
   * nothing must be collected.
   */
  async addTo(tx: Transaction): Promise<void> {
    const hours = [...this.#unwritten].slice(0, hoursPerCommit);
    for (const [hour, lists] of hours) await addHour(tx, hour, lists);
    tx.after(() => {
      for (const [hour] of hours) this.#unwritten.delete(hour);
    });
  }
}

async function addHour(tx: Transaction, hour: number, lists: Lists): Promise<void> {
  const name = hourName(hour);
  if (await tx.get(HourlyCount, name)) {
    await tx.update(HourlyCount, name, ({ status }) => {
      Object.assign(status, addLists(status, lists));
    });
  } else {
    const status = { startTimestamp: toTimestamp(hour), ...lists };
    await tx.create(HourlyCount, { metadata: { name }, spec: {}, status });
  }
}

/** Makes every list of an HourlyCount. */
const mapLists = (make: (list: keyof Lists) => Lists[keyof Lists]): Lists => ({
  signIns: make('signIns'),
  signInsFailed: make('signInsFailed'),
  mails: make('mails'),
  refusedByRule: make('refusedByRule'),
  refusedByLimit: make('refusedByLimit'),
});

const noCounts = mapLists(() => []);

/** Adds counts of the same names. A new name that has no room is added to the others. */
function addLists(before: Lists, added: Lists): Lists {
  return mapLists((list) => {
    const sums = new Map(before[list].map((counted) => [counted.name, counted]));
    for (const { name: given, count, lastTimestamp } of added[list]) {
      const name = sums.has(given) || sums.size < maxCountNames ? given : otherName;
      const former = sums.get(name);
      sums.set(name, {
        name,
        count: count + (former?.count ?? 0),
        lastTimestamp: later(lastTimestamp, former?.lastTimestamp),
      });
    }
    return [...sums.values()];
  });
}

/** Returns the later of timestamps, which sort as text. */
const later = (one: string, other = ''): string => (one > other ? one : other);
