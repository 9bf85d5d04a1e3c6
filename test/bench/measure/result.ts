import type { Memo } from '../memo.js';
import type { Bound, Costs, Metric, Sample } from '../row.js';
import { busy, type Evaluation, evaluate, type Verdict } from './evaluate.js';
import type { Rounds } from './measure.js';
import { median } from './statistics.js';

/** One side of a metric over all rounds. */
export interface SideResult {
  readonly name: string;
  readonly operations: number;
  readonly cpuMicros: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
  readonly rss: number;
  /** Bytes written to disk for one operation, where they were counted. */
  readonly written?: number;
  /** How many operations went before the first round. */
  readonly warmUp?: number;
  readonly costs?: Costs;
}

/** What is known of sides beside their samples, by name. */
export type Known = ReadonlyMap<string, Pick<SideResult, 'warmUp' | 'costs'>>;

/** One metric as it is printed and recorded. */
export interface Result {
  readonly id: string;
  readonly workload: string;
  readonly metric: string;
  readonly unit: string;
  readonly ours?: number;
  readonly peer?: { readonly name: string; readonly value: number };
  readonly sides: readonly SideResult[];
  readonly rounds: readonly number[];
  readonly ratio: number;
  readonly spread: number;
  readonly is: '≤' | '≥';
  readonly gate?: number;
  readonly stretch?: number;
  readonly memo?: Memo;
  readonly verdict: Verdict;
  readonly reason?: string;
}

/** A bound as it is on this Node line. */
export const boundOf = (bound: Bound, line: '20' | '24'): number =>
  typeof bound === 'number' ? bound : bound[line];

const named = (metric: Metric, line: '20' | '24') => ({
  id: metric.id,
  workload: metric.workload,
  metric: metric.peer ? 'ratio' : 'amount',
  unit: metric.unit,
  is: metric.is,
  ...(metric.gate !== undefined && { gate: boundOf(metric.gate, line) }),
  ...(metric.stretch !== undefined && { stretch: boundOf(metric.stretch, line) }),
});

/** Evaluates one metric by the rounds of its row. */
export function resultOf(
  metric: Metric,
  rounds: Rounds,
  line: '20' | '24',
  quick: boolean,
  about: Known = new Map(),
): Result {
  const ours = rounds.get(metric.ours)!;
  const peers = metric.peer === undefined ? undefined : rounds.get(metric.peer)!;
  const ratios = ours.map((sample, i) =>
    peers ? metric.of(sample) / metric.of(peers[i]!) : metric.of(sample),
  );
  const known = named(metric, line);
  const clients = [...ours, ...(peers ?? [])].flatMap(({ client }) =>
    client === undefined ? [] : [client],
  );
  const evaluation: Evaluation = evaluate({ ...known, budget: !peers }, ratios, clients, quick);
  return {
    ...known,
    ours: median(ours.map(metric.of)),
    ...(peers && {
      peer: { name: metric.peer!.split(',')[0]!, value: median(peers.map(metric.of)) },
    }),
    sides: [[metric.ours, ours] as const, ...(peers ? [[metric.peer!, peers] as const] : [])].map(
      ([name, samples]) => ({ ...sideOf(name, samples), ...about.get(name) }),
    ),
    rounds: ratios,
    ...rememberedIn(ours),
    ...evaluation,
    ...(evaluation.verdict === 'client-bound' && {
      reason: `the client used over ${busy * 100} % of its core`,
    }),
  };
}

/** What the policy remembered in all windows of a side. */
function rememberedIn(samples: readonly Sample[]): Pick<Result, 'memo'> {
  const all = samples.flatMap(({ memo }) => (memo ? [memo] : []));
  const sum = (of: 'hits' | 'misses'): number => all.reduce((total, memo) => total + memo[of], 0);
  return all.length > 0 ? { memo: { hits: sum('hits'), misses: sum('misses') } } : {};
}

/** A metric without a measurement, and why. */
export const without = (
  metric: Metric,
  line: '20' | '24',
  verdict: 'skipped' | 'error',
  reason: string,
): Result => ({
  ...named(metric, line),
  sides: [],
  rounds: [],
  ratio: NaN,
  spread: NaN,
  verdict,
  reason,
});

function sideOf(name: string, samples: readonly Sample[]): SideResult {
  const sum = (of: (sample: Sample) => number): number =>
    samples.reduce((total, sample) => total + of(sample), 0);
  const operations = sum((sample) => sample.operations);
  return {
    name,
    operations,
    cpuMicros: sum(({ cpuMicros }) => cpuMicros),
    seconds: sum(({ seconds }) => seconds),
    p50: median(samples.map(({ p50 }) => p50)),
    p99: median(samples.map(({ p99 }) => p99)),
    rss: Math.max(...samples.map(({ rss }) => rss)),
    ...(samples.every(({ written }) => written !== undefined) && {
      written: sum(({ written }) => written!) / operations,
    }),
  };
}
