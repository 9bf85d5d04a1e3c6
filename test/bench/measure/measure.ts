import type { Row, Sample, Side } from '../row.js';
import { median, percentile } from './statistics.js';

/** The samples of each side, one a round. */
export type Rounds = ReadonlyMap<string, readonly Sample[]>;

const agreement = 0.05;
const mostWindows = 60;

/** A side while it warms up. */
class Warming {
  readonly side: Side;
  operations = 0;
  #seconds = 0;
  #lastCost: number | undefined;
  #hasAgreed = false;

  constructor(side: Side) {
    this.side = side;
  }

  async run(): Promise<void> {
    const { seconds, operations, cpuMicros } = await this.side.sample(1);
    this.#seconds += seconds;
    this.operations += operations;
    const cost = cpuMicros / operations;
    const last = this.#lastCost;
    this.#hasAgreed ||= last !== undefined && Math.abs(cost - last) <= last * agreement;
    this.#lastCost = cost;
  }

  get isWarm(): boolean {
    const { seconds = 0, operations = 0 } = this.side.warm ?? {};
    return this.#hasAgreed && this.#seconds >= seconds && this.operations >= operations;
  }
}

/**
 * Runs windows of all sides in turns until each has done its least and has agreed with its window
 * before, or has had sixty. A side that is warm goes on: V8 forgets what it has optimized when a
 * process rests. Answers how many operations each side took.
 */
export async function warmUp(sides: readonly Side[]): Promise<ReadonlyMap<string, number>> {
  const warming = sides.filter(({ warm }) => warm).map((side) => new Warming(side));
  for (let i = 0; i < mostWindows && !warming.every(({ isWarm }) => isWarm); i += 1) {
    for (const one of warming) await one.run();
  }
  return new Map(warming.map(({ side, operations }) => [side.name, operations]));
}

/**
 * So many rounds, each running every side once, the order turned each time. A row that may be cut
 * into slices is: a round then goes through its sides slice by slice, so that what else the machine
 * does meets them alike.
 */
export async function measure(
  { seconds = 3, slice }: Row,
  sides: readonly Side[],
  { rounds, quick }: { rounds: number; quick: boolean },
): Promise<Rounds> {
  const samples = new Map<string, Sample[]>(sides.map(({ name }) => [name, []]));
  const whole = quick ? 1 : seconds;
  const slices = slice === undefined ? 1 : Math.max(1, Math.round(whole / slice));
  for (let round = 0; round < rounds; round += 1) {
    const taken = new Map<string, Sample[]>(sides.map(({ name }) => [name, []]));
    for (let i = 0; i < slices; i += 1) {
      for (const side of (round + i) % 2 === 0 ? sides : [...sides].reverse()) {
        taken.get(side.name)!.push(await side.sample(whole / slices));
      }
    }
    for (const [name, parts] of taken) samples.get(name)!.push(together(parts));
  }
  return samples;
}

/**
 * The slices of one window as one: what can be added is added, p50 is the middle one of them, p99
 * that of all their times or else the largest, all else is the last one's.
 */
function together(parts: readonly Sample[]): Sample {
  const [last, ...others] = [...parts].reverse() as [Sample, ...Sample[]];
  if (others.length === 0) return last;
  const sum = (of: (part: Sample) => number): number =>
    parts.reduce((all, part) => all + of(part), 0);
  const memo = last.memo && {
    hits: sum((part) => part.memo!.hits),
    misses: sum((part) => part.memo!.misses),
  };
  const written = last.written !== undefined && sum((part) => part.written!);
  const values =
    last.values &&
    Object.fromEntries(
      Object.keys(last.values).map((key) => [key, sum((part) => part.values![key]!)]),
    );
  const times = parts.every((part) => part.times)
    ? parts.flatMap((part) => part.times!).sort((a, b) => a - b)
    : undefined;
  return {
    ...last,
    ...(times && { times }),
    operations: sum(({ operations }) => operations),
    seconds: sum(({ seconds }) => seconds),
    cpuMicros: sum(({ cpuMicros }) => cpuMicros),
    p50: median(parts.map(({ p50 }) => p50)),
    p99: times ? percentile(times, 0.99) : Math.max(...parts.map(({ p99 }) => p99)),
    ...(values && { values }),
    ...(memo && { memo }),
    ...(written !== false && { written }),
  };
}
