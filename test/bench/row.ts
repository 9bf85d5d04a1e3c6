import type { Bench } from './bench.js';
import type { Bounds } from './measure/evaluate.js';
import type { Memo } from './memo.js';

/**
 * What one window of one side came to; times in seconds where not said otherwise, memory in bytes.
 */
export interface Sample {
  readonly operations: number;
  readonly seconds: number;
  /** User and system time of the process measured, all threads. */
  readonly cpuMicros: number;
  readonly p50: number;
  readonly p99: number;
  /** How long each took, in order of size, where there were few. */
  readonly times?: readonly number[];
  readonly rss: number;
  /** The share of its core that the load generator used. */
  readonly client?: number;
  /** What the policy remembered of the decisions in it. */
  readonly memo?: Memo;
  /** The bytes that were written to its disk, where that is its own. */
  readonly written?: number;
  /** Amounts that only one row knows. */
  readonly values?: Readonly<Record<string, number>>;
}

/** One of the things compared in a row, started and ready to be measured. */
export interface Side {
  /** Who it is, and after a comma what it does, where it is measured doing more than one thing. */
  readonly name: string;
  /** What must have passed before windows are compared with each other. */
  readonly warm?: { readonly seconds?: number; readonly operations?: number };
  sample(seconds: number): Promise<Sample>;
  /** What its server costs beside processor time; asked once, after the last round. */
  costs?(): Promise<Costs>;
  stop(): Promise<void>;
}

/** What a server costs beside processor time; memory in bytes, of all its processes. */
export interface Costs {
  /** Milliseconds from its command to its first answer, over a store that is there already. */
  readonly startMs: number;
  /** Memory after the start, before the first sign-in, and after so many of them. */
  readonly restBytes: number;
  readonly usedBytes: number;
  /** The part of `usedBytes` that is not pages of files. */
  readonly usedAnonymousBytes: number;
  readonly signInCount: number;
}

/** A bound that may differ between Node lines. */
export type Bound = number | Readonly<Record<'20' | '24', number>>;

/** One printed line: what of the sides' samples is compared, and what it is held to. */
export interface Metric {
  readonly id: string;
  readonly workload: string;
  readonly unit: 'µs' | '/s' | 'ms' | 'MB' | 'kB' | 'B' | '/CPU s' | '';
  readonly ours: string;
  /** The side compared with; without one the amount itself is held to the bounds. */
  readonly peer?: string;
  of(sample: Sample): number;
  readonly is: Bounds['is'];
  /** Without bounds it is printed and never judged. */
  readonly gate?: Bound;
  readonly stretch?: Bound;
}

/** A row of the table: its sides, and what is read from them. */
export interface Row {
  readonly metrics: readonly Metric[];
  /** Whether it means nothing on a file system in memory. */
  readonly durable?: boolean;
  /** Starts the sides; throws {@link Skip} where they cannot be had. */
  open(bench: Bench): Promise<Side[]>;
  /** Seconds of a window; by default three. */
  readonly seconds?: number;
  /**
   * Seconds after which the sides take turns within a window, where what they do may be cut so
   * short.
   */
  readonly slice?: number;
}

/** A row that cannot be run here, and why. */
export class Skip extends Error {
  override readonly name = 'Skip';
}

/** CPU microseconds an operation. */
export const cpuPerOperation = ({ cpuMicros, operations }: Sample): number =>
  cpuMicros / operations;

/** Operations a second. */
export const throughput = ({ operations, seconds }: Sample): number => operations / seconds;

/** Operations in a second of CPU time. */
export const perCPUSecond = ({ operations, cpuMicros }: Sample): number =>
  operations / (cpuMicros / 1e6);

/** The middle latency in milliseconds. */
export const middle = ({ p50 }: Sample): number => p50 * 1000;
