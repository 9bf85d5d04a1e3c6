import type { HourlyCount } from '../../api.js';

/** The times that are shown. */
export const spans = ['24h', '7d', '30d'] as const;
export type Span = (typeof spans)[number];

type Status = HourlyCount['status'];
/** A list of counts of an hour. */
export type CountList = Exclude<keyof Status, 'startTimestamp'>;
/** Which counts of an hour are meant: a list, and names in it if not all are. */
export interface Counted {
  readonly list: CountList;
  readonly names?: readonly string[];
}

const [hourMs, dayMs] = [3_600_000, 86_400_000];

/** How many bars each span has, and how many hours are in one. */
const shapes: Readonly<Record<Span, { readonly bars: number; readonly hours: number }>> = {
  '24h': { bars: 24, hours: 1 },
  '7d': { bars: 28, hours: 6 },
  '30d': { bars: 30, hours: 24 },
};

/** The time before a span that it is compared with, in ms; 30 days before are not kept. */
const comparedMs: Readonly<Partial<Record<Span, number>>> = { '24h': dayMs, '7d': 7 * dayMs };

/** Returns how many hours a span needs, with those that it is compared with. */
export const hoursOf = (span: Span): number =>
  shapes[span].bars * shapes[span].hours * (comparedMs[span] ? 2 : 1) + 1;

/** Returns the span that an address names; the first one if it names none. */
export const spanOf = (query: URLSearchParams): Span =>
  spans.find((span) => span === query.get('span')) ?? spans[0];

/** Returns when the bars of a span begin, in ms; the last one is not over at `now`. Days are local. */
export function barsOf(span: Span, now: number): number[] {
  const { bars, hours } = shapes[span];
  if (hours === 1) {
    const last = Math.floor(now / hourMs) * hourMs;
    return Array.from({ length: bars }, (_, i) => last - (bars - 1 - i) * hourMs);
  }
  const day = new Date(now);
  const lastHour = Math.floor(day.getHours() / hours) * hours;
  return Array.from({ length: bars }, (_, i) =>
    new Date(
      day.getFullYear(),
      day.getMonth(),
      day.getDate(),
      lastHour - (bars - 1 - i) * hours,
    ).getTime(),
  );
}

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);

const countIn = ({ status }: HourlyCount, { list, names }: Counted): number =>
  sum(status[list].map(({ name, count }) => (!names || names.includes(name) ? count : 0)));

const startOf = ({ status }: HourlyCount): number => Date.parse(status.startTimestamp);

/** Returns the counts of each bar. */
export function countsOf(
  hours: readonly HourlyCount[],
  bars: readonly number[],
  counted: Counted,
): number[] {
  const counts = bars.map(() => 0);
  for (const hour of hours) {
    const at = bars.findLastIndex((start) => start <= startOf(hour));
    if (at >= 0) counts[at]! += countIn(hour, counted);
  }
  return counts;
}

/** Returns what was counted in the span. */
export const totalOf = (
  hours: readonly HourlyCount[],
  bars: readonly number[],
  counted: Counted,
): number => sum(countsOf(hours, bars, counted));

/**
 * Returns by how many hundredths more a span has than the same time before; undefined if nothing was
 * counted before, or it is not kept.
 */
export function changeOf(
  hours: readonly HourlyCount[],
  span: Span,
  counted: Counted,
  now: number,
): number | undefined {
  const shift = comparedMs[span];
  if (shift === undefined) return undefined;
  const bars = barsOf(span, now);
  const from = bars[0]! - shift;
  const former = hours.filter((hour) => startOf(hour) >= from && startOf(hour) < now - shift);
  const before = sum(former.map((hour) => countIn(hour, counted)));
  return before > 0 ? totalOf(hours, bars, counted) / before - 1 : undefined;
}

/** Why something was refused: by a rule or a limit, how often, and when last. */
export interface Reason {
  readonly by: 'rule' | 'limit';
  readonly name: string;
  readonly count: number;
  readonly last: string;
}

/** Returns why something was refused in the span, most refusals first. */
export function reasonsOf(hours: readonly HourlyCount[], bars: readonly number[]): Reason[] {
  const sums = new Map<string, Reason>();
  for (const hour of hours.filter((one) => startOf(one) >= bars[0]!)) {
    for (const by of ['rule', 'limit'] as const) {
      const { refusedByRule, refusedByLimit } = hour.status;
      for (const { name, count, lastTimestamp } of by === 'rule' ? refusedByRule : refusedByLimit) {
        const { count: former = 0, last = '' } = sums.get(`${by} ${name}`) ?? {};
        sums.set(`${by} ${name}`, {
          by,
          name,
          count: former + count,
          last: lastTimestamp > last ? lastTimestamp : last,
        });
      }
    }
  }
  return [...sums.values()].sort((a, b) => b.count - a.count);
}

/** Returns the marks of an axis from zero, three to five steps that are round, for counts up to `most`. */
export function stepsOf(most: number): number[] {
  const rough = Math.max(1, most / 5);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough)!;
  const count = Math.max(3, Math.ceil(most / step));
  return Array.from({ length: count + 1 }, (_, i) => i * step);
}
