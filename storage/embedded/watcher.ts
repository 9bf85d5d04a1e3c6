import { setImmediate as turn } from 'node:timers/promises';
import { CompactedError, type Batch, type Revision } from '../storage.js';
import type { StoreState } from './state.js';
import { readBatches } from './tables.js';

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
  next(): Batch | undefined {
    this.#batches ??= this.#read();
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

  #read(): readonly Batch[] {
    const { oldest, revision } = this.#state;
    if (this.#lastRevision < oldest) throw new CompactedError(oldest);
    return this.#lastRevision < revision ? changesAfter(this.#state, this.#lastRevision) : [];
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
      const batch = cursor.next();
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

function changesAfter(state: StoreState, from: Revision): readonly Batch[] {
  return state.recent(from) ?? replay(state, from);
}

/** Reads some changes after `from` from the log. */
function replay(state: StoreState, from: Revision): Batch[] {
  return readBatches(state.tables.log, {
    start: from + 1,
    end: state.revision + 1,
    limit: replayBatchSize,
  });
}
