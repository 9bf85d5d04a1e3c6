import { setImmediate as turn } from 'node:timers/promises';
import { CompactedError, type Batch, type Revision } from '../storage.js';
import type { StoreState } from './state.js';
import { readBatches } from './log-reader.js';
import { whileOpen } from './reader.js';

const replayBatchSize = 64;

/** Reads changes after a revision from memory, or a few batches at a time from the log. */
class Cursor {
  readonly #state: StoreState;
  readonly #prefix: string;
  #lastRevision: Revision;
  #batches: readonly Batch[] | undefined;
  #next = 0;

  constructor(state: StoreState, prefix: string, from: Revision) {
    this.#state = state;
    this.#prefix = prefix;
    this.#lastRevision = from;
  }

  /** The last revision that was read, with or without changes under the prefix. */
  get lastRevision(): Revision {
    return this.#lastRevision;
  }

  /**
   * Returns the next batch with a change under the prefix, or undefined at the end of the batches
   * read.
   */
  async next(): Promise<Batch | undefined> {
    this.#batches ??= await this.#read();
    while (this.#next < this.#batches.length) {
      const { revision, changes } = this.#batches[this.#next]!;
      this.#next += 1;
      this.#lastRevision = revision;
      const matching = changes.filter(({ key }) => key.startsWith(this.#prefix));
      if (matching.length > 0) return { revision, changes: matching };
    }
    this.#batches = undefined;
    this.#next = 0;
    return undefined;
  }

  async #read(): Promise<readonly Batch[]> {
    const from = this.#lastRevision;
    this.#assertHistory(from);
    if (from === this.#state.revision) return [];
    const recent = this.#state.recent(from);
    if (recent) return recent;
    const batches = await whileOpen(this.#state, () =>
      readBatches(this.#state, from, replayBatchSize),
    );
    this.#assertHistory(from);
    return batches;
  }

  #assertHistory(from: Revision): void {
    const { oldest } = this.#state;
    if (from < oldest) throw new CompactedError(oldest);
  }
}

/**
 * Yields every change under `prefix` after `from`, from memory or the log, and a progress mark
 * whenever it has caught up.
 */
export async function* watchPrefix(
  state: StoreState,
  prefix: string,
  from: Revision,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  const cursor = new Cursor(state, prefix, from);
  let lastProgress = -1;
  let resume = (): void => {};
  const wakeUp = (): void => resume();
  signal.addEventListener('abort', wakeUp);
  try {
    while (!signal.aborted && !state.closed) {
      const batch = await cursor.next();
      if (batch) {
        lastProgress = batch.revision;
        yield batch;
        continue;
      }
      const { lastRevision } = cursor;
      if (lastRevision < state.revision) {
        await turn();
        continue;
      }
      if (lastProgress < lastRevision && lastRevision === state.revision) {
        lastProgress = lastRevision;
        yield { revision: lastRevision, changes: [] };
        continue;
      }
      const waitStart = state.uptimeSeconds;
      await new Promise<void>((resolve) => {
        resume = resolve;
        state.onNextChange(wakeUp);
      });
      if (state.uptimeSeconds > waitStart && lastRevision === state.revision) lastProgress = -1;
    }
  } finally {
    signal.removeEventListener('abort', wakeUp);
  }
}
