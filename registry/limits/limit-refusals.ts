import { minuteMs } from '../schema/units.js';
import type { LimitName } from './limit-settings.js';
import { type Limit, LimitRefusedError } from './rate-limit.js';

/** For how long refusals are shown, in minutes. */
const keptMinutes = 60;

/** What a limit refused in the last hour. */
export interface RefusedByLimit {
  /** The setting of the limit, if it has one. */
  readonly setting: LimitName | undefined;
  readonly name: string;
  readonly count: number;
}

/** Counts what each limit refused, in this process: since the start, and in the last hour. */
export class LimitRefusals {
  readonly #totals = new Map<string, number>();
  readonly #settings = new Map<string, LimitName | undefined>();
  readonly #minutes = new Map<number, Map<string, number>>();

  /** Counts one refusal at `now`, in ms since the epoch. */
  count({ name, setting }: Pick<Limit, 'name' | 'setting'>, now: number): void {
    this.#settings.set(name, setting);
    this.#totals.set(name, (this.#totals.get(name) ?? 0) + 1);
    const minute = Math.floor(now / minuteMs);
    let counts = this.#minutes.get(minute);
    if (!counts) {
      counts = new Map();
      this.#minutes.set(minute, counts);
      for (const old of this.#minutes.keys()) {
        if (old <= minute - keptMinutes) this.#minutes.delete(old);
      }
    }
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  /** Counts a refusal of a limit that `change` ends with, once, however often it was tried. */
  async counted<T>(change: Promise<T>, now: number): Promise<T> {
    try {
      return await change;
    } catch (error) {
      if (error instanceof LimitRefusedError) this.count(error.limit, now);
      throw error;
    }
  }

  /** Returns the counts since the start, by limit. */
  totals(): ReadonlyMap<string, number> {
    return this.#totals;
  }

  /** Returns the setting of a limit that refused something, if it has one. */
  settingOf(name: string): LimitName | undefined {
    return this.#settings.get(name);
  }

  /** Returns the limits that refused something in the hour before `now`, most refusals first. */
  lastHour(now: number): RefusedByLimit[] {
    const sums = new Map<string, number>();
    for (const [minute, counts] of this.#minutes) {
      if (minute > Math.floor(now / minuteMs) - keptMinutes) {
        for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count);
      }
    }
    return [...sums]
      .map(([name, count]) => ({ name, count, setting: this.#settings.get(name) }))
      .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  }
}
