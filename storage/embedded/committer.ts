import { setImmediate as turn } from 'node:timers/promises';
import { checkLimits } from '../limits.js';
import {
  UnavailableError,
  UnknownOutcomeError,
  type Check,
  type Committed,
  type Lost,
  type StorageMetrics,
  type Write,
} from '../storage.js';
import { countCommit } from '../count-commit.js';
import { GroupCommit } from './group-commit.js';
import type { StoreState } from './state.js';
import { applyToTables } from './apply.js';
import { isFull, unwrapCommitError, type CommitError } from './disk-full.js';

type Result = Committed | Lost;

interface Member {
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
  readonly bytes: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

const groupMembers = 1024;
const groupBytes = 8 << 20;
const applyBytes = 1 << 20;

/**
 * Takes commits in order of arrival and writes all queued ones to the log as one durable lmdb
 * transaction. The tables follow later.
 */
export class EmbeddedCommitter {
  readonly #state: StoreState;
  readonly #fatal: (error: Error) => void;
  readonly #metrics: StorageMetrics | undefined;
  #queue: Member[] = [];
  #writing: Promise<void> | undefined;
  #failed: Error | undefined;
  #applyRequested = false;

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

  /** Lets the tables follow the log after the group being written. */
  applySoon(): void {
    this.#applyRequested = true;
    this.#writing ??= this.#run();
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
      do {
        const isWritten = this.#queue.length === 0 || (await this.#write(this.#take()));
        if (isWritten && (this.#applyRequested || this.#state.shouldApply)) await this.#apply();
      } while (this.#queue.length > 0);
    } finally {
      this.#writing = undefined;
    }
  }

  /** Brings the tables to the revision of the log. Without space they follow later. */
  async #apply(): Promise<void> {
    this.#applyRequested = false;
    if (this.#failed) return;
    const { tables, revision } = this.#state;
    try {
      tables.preallocator.reserve(applyBytes);
      await applyToTables(tables, this.#state.pending());
      this.#state.setApplied(revision);
    } catch (error) {
      await this.#toError(await unwrapCommitError(error as Error));
    }
  }

  #take(): Member[] {
    let bytes = 0;
    let count = 0;
    for (const member of this.#queue) {
      bytes += member.bytes;
      if (count === groupMembers || (count > 0 && bytes > groupBytes)) break;
      count++;
    }
    return this.#queue.splice(0, count);
  }

  /** Writes and answers a group; returns whether it is durable. */
  async #write(members: readonly Member[]): Promise<boolean> {
    this.#metrics?.commitBatchSize.observe(members.length);
    try {
      if (this.#failed)
        throw new UnavailableError('the store has stopped after a failed write', {
          cause: this.#failed,
        });
      const group = new GroupCommit(this.#state, members.length);
      const results = members.map(({ checks, writes }) => group.add(checks, writes));
      const bytes = members.reduce((sum, member) => sum + member.bytes, 0);
      await this.#store(group, bytes);
      members.forEach((member, i) => member.resolve(results[i]!));
      return true;
    } catch (error) {
      for (const member of members) member.reject(error as Error);
      return false;
    }
  }

  async #store(group: GroupCommit, bytes: number): Promise<void> {
    if (group.batches.length === 0) return;
    this.#state.tables.preallocator.reserve(bytes);
    try {
      await this.#state.tables.root.batch(() => {
        group.put();
      });
    } catch (error) {
      throw await this.#toError(await unwrapCommitError(error as Error));
    }
    this.#state.publish(group.batches);
  }

  async #toError(reason: CommitError): Promise<Error> {
    if (await isFull(reason, this.#state.tables.directory))
      return new UnavailableError('no space is left for the store', { full: true, cause: reason });
    this.#failed = reason;
    this.#fatal(new Error(`the store could not be written: ${reason.message}`, { cause: reason }));
    return new UnknownOutcomeError('the store could not be written', { cause: reason });
  }
}
