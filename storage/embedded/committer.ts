import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { countCommit } from '../count-commit.js';
import { checkLimits } from '../limits.js';
import {
  type Check,
  type Committed,
  type Lost,
  type StorageMetrics,
  UnavailableError,
  UnknownOutcomeError,
  type Write,
} from '../storage.js';
import { noSpace } from './database.js';
import { GroupCommit } from './group-commit.js';
import { bytesOfRows, type Operation, rowsOfBatch } from './row-encoding.js';
import type { StoreState } from './state.js';

type Result = Committed | Lost;

interface Member {
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
  readonly bytes: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

const groupBytes = 8 << 20;
/** How often, and how many milliseconds apart, deletes look for space that LevelDB gives back. */
const spaceTries = { count: 50, apart: 100 } as const;

/** Takes commits in order of arrival and writes all queued ones as one durable batch. */
export class EmbeddedCommitter {
  readonly #state: StoreState;
  readonly #fatal: (error: Error) => void;
  readonly #metrics: StorageMetrics | undefined;
  #queue: Member[] = [];
  #writing: Promise<void> | undefined;
  #failed: Error | undefined;

  constructor(state: StoreState, fatal: (error: Error) => void, metrics?: StorageMetrics) {
    this.#state = state;
    this.#fatal = fatal;
    this.#metrics = metrics;
  }

  /** Resolves when the commit is durable, or lost. */
  async commit(checks: readonly Check[], writes: readonly Write[]): Promise<Result> {
    const bytes = checkLimits(checks, writes);
    this.#state.assertOpen();
    const commit = new Promise<Result>((resolve, reject) => {
      this.#queue.push({ checks, writes, bytes, resolve, reject });
      this.#writing ??= this.#run();
    });
    return countCommit(this.#metrics, commit);
  }

  /** Resolves when nothing is queued or in flight. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /**
   * Writes one group after another. A group holds the commits that arrived while the previous one
   * was written, at least all of one turn of the event loop.
   */
  async #run(): Promise<void> {
    await turn();
    try {
      while (this.#queue.length > 0) await this.#write(this.#take());
    } finally {
      this.#writing = undefined;
    }
  }

  #take(): Member[] {
    let bytes = 0;
    const end = this.#queue.findIndex((member, i) => {
      bytes += member.bytes;
      return i > 0 && bytes > groupBytes;
    });
    return this.#queue.splice(0, end === -1 ? Infinity : end);
  }

  /** Refuses values when space is left only for deletes; returns the other members. */
  #refuseIfScarce(members: readonly Member[]): readonly Member[] {
    if (this.#state.space.fits(bytesOf(members), 'values')) return members;
    return members.filter(({ writes, reject }) => {
      const isValue = writes.some((write) => 'put' in write);
      if (isValue) reject(noSpace());
      return !isValue;
    });
  }

  /** Writes and answers a group. */
  async #write(queued: readonly Member[]): Promise<void> {
    this.#metrics?.commitBatchSize.observe(queued.length);
    try {
      if (this.#failed) {
        throw new UnavailableError('the store has stopped after a failed write', {
          cause: this.#failed,
        });
      }
      const members = this.#refuseIfScarce(queued);
      const group = new GroupCommit(this.#state, members.length);
      const results = members.map(({ checks, writes }) => group.add(checks, writes));
      await this.#store(group);
      members.forEach((member, i) => member.resolve(results[i]!));
    } catch (error) {
      for (const member of queued) member.reject(error as Error);
    }
  }

  async #store({ batches }: GroupCommit): Promise<void> {
    if (batches.length === 0) return;
    const rows = batches.flatMap(rowsOfBatch);
    await this.#waitForSpace(rows);
    try {
      await this.#state.db.batch(rows, { sync: true });
    } catch (error) {
      throw this.#toError(error as Error);
    }
    this.#state.publish(batches);
  }

  /** Waits for the tables that LevelDB is writing: afterwards it removes those that they replace. */
  async #waitForSpace(rows: readonly Operation[]): Promise<void> {
    const bytes = bytesOfRows(rows);
    for (let tries = 1; !this.#state.space.fits(bytes, 'deletes'); tries += 1) {
      if (tries === spaceTries.count) throw noSpace();
      await pause(spaceTries.apart);
    }
  }

  #toError(reason: Error): Error {
    this.#failed = reason;
    this.#fatal(new Error(`the store could not be written: ${reason.message}`, { cause: reason }));
    return new UnknownOutcomeError('the store could not be written', { cause: reason });
  }
}

const bytesOf = (members: readonly Member[]): number =>
  members.reduce((sum, member) => sum + member.bytes, 0);
