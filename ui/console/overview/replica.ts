import type { Replica } from '../../api.js';

/** The counts of a minute that replicas have. */
export type CountName = Exclude<keyof Replica['status']['activity'], 'endTimestamp'>;

const minuteMs = 60_000;

/** How many minutes are shown. */
const shownMinutes = 60;

/** Counts of all replicas in the same minutes; the last ends at `end`, in ms since the epoch. */
export interface Series {
  readonly end: number;
  readonly counts: readonly number[];
}

/**
 * Adds the counts of replicas by the minute they belong to. A replica that has not written its last
 * minute yet counts nothing in it.
 */
export function seriesOf(replicas: readonly Replica[], name: CountName): Series {
  const ends = replicas.map(({ status }) => Date.parse(status.activity.endTimestamp));
  const end = Math.max(0, ...ends);
  const counts = Array<number>(shownMinutes).fill(0);
  replicas.forEach(({ status }, i) => {
    const own = status.activity[name];
    const offset = shownMinutes - own.length - (end - ends[i]!) / minuteMs;
    own.forEach((count, at) => {
      if (at + offset >= 0) counts[at + offset]! += count;
    });
  });
  return { end, counts };
}

type Refusal = NonNullable<Replica['status']['refusals']>[number];

/** Adds what each limit refused over replicas, most refusals first. */
export function refusalsOf(replicas: readonly Replica[]): Refusal[] {
  const sums = new Map<string, Refusal>();
  for (const refusal of replicas.flatMap(({ status }) => status.refusals ?? [])) {
    sums.set(refusal.limit, {
      ...refusal,
      count: refusal.count + (sums.get(refusal.limit)?.count ?? 0),
    });
  }
  return [...sums.values()].sort((a, b) => b.count - a.count);
}

/** Returns the sum of counts. */
export const sum = (counts: readonly number[]): number =>
  counts.reduce((total, count) => total + count, 0);

/** Ten minutes of a series: when they begin, in ms since the epoch, and their sum. */
export const tenMinutes = ({ end, counts }: Series): { begin: number; count: number }[] =>
  [0, 10, 20, 30, 40, 50].map((from) => ({
    begin: end - (shownMinutes - from) * minuteMs,
    count: sum(counts.slice(from, from + 10)),
  }));
