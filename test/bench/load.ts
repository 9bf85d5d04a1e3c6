import type { Memo } from './memo.js';

/** Work that a generator repeats, so many at a time. */
export interface Load {
  readonly inFlight: number;
  /**
   * One operation by one of those in flight, of the kind asked for where it has kinds; throws where
   * the answer is not what it must be. Answers how many milliseconds it took where it waited for
   * its turn before.
   */
  operation(worker: number, kind?: string): Promise<number | void>;
  /** What the policy remembered so far, where the load itself is what is measured. */
  memo?(): Memo;
  close(): void | Promise<void>;
}

/** What every file of loads/ exports as default: makes ready, which may already ask the server. */
export type MakeLoad<A> = (args: A) => Promise<Load>;

/**
 * What a window came to, as the generator saw it; times in seconds, `times` of each where they were
 * few. `idle`: without anything to do, where the request was to stay awake.
 */
export interface Run {
  readonly operations: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
  readonly times?: readonly number[];
  readonly cpuMicros: number;
  readonly rss: number;
  readonly idle: number;
  readonly memo?: Memo;
}
