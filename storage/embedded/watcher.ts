import { setImmediate as turn } from 'node:timers/promises';
import { CompactedError, type Batch, type Revision } from '../storage.js';
import type { StoreState } from './state.js';
import { decodeLog } from './encoding.js';

const replayed = 64;

/** Reads on behind a revision: from memory or else from the log, some batches at a time. */
class Cursor {
  readonly #state: StoreState;
  readonly #prefix: string;
  #at: Revision;
  #batches: readonly Batch[] | undefined;
  #next = 0;

  constructor(state: StoreState, prefix: string, from: Revision) {
    this.#state = state;
    this.#prefix = prefix;
    this.#at = from;
  }

  /** The last revision that was read, whether anything of it is under the prefix or not. */
  get at(): Revision {
    return this.#at;
  }

  /** The next batch with a change under the prefix; undefined behind those read at a time. */
  next(): Batch | undefined {
    this.#batches ??= this.#read();
    while (this.#next < this.#batches.length) {
      const { revision, changes } = this.#batches[this.#next]!;
      this.#next += 1;
      this.#at = revision;
      const told = changes.filter(({ key }) => key.startsWith(this.#prefix));
      if (told.length > 0) return { revision, changes: told };
    }
    this.#batches = undefined;
    this.#next = 0;
    return undefined;
  }

  #read(): readonly Batch[] {
    const { oldest, revision } = this.#state;
    if (this.#at < oldest) throw new CompactedError(oldest);
    return this.#at < revision ? after(this.#state, this.#at) : [];
  }
}

/**
 * Every change under `prefix` after `from`, from memory or else from the log, with a mark whenever
 * it has caught up.
 */
export async function* watchPrefix(
  state: StoreState,
  prefix: string,
  from: Revision,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  const cursor = new Cursor(state, prefix, from);
  let marked = -1;
  let resume = (): void => {};
  const go = (): void => resume();
  signal.addEventListener('abort', go);
  try {
    while (!signal.aborted && !state.closed) {
      const batch = cursor.next();
      if (batch) {
        marked = batch.revision;
        yield batch;
        continue;
      }
      const { at } = cursor;
      if (at < state.revision) {
        await turn();
        continue;
      }
      if (marked < at && at === state.revision) {
        marked = at;
        yield { revision: at, changes: [] };
        continue;
      }
      const { seconds } = state;
      await new Promise<void>((resolve) => {
        resume = resolve;
        state.wait(go);
      });
      if (state.seconds > seconds && at === state.revision) marked = -1;
    }
  } finally {
    signal.removeEventListener('abort', go);
  }
}

function after(state: StoreState, from: Revision): readonly Batch[] {
  return state.recent(from) ?? replay(state, from);
}

/** Some of the changes after `from`, from the log. */
function replay(state: StoreState, from: Revision): Batch[] {
  const batches: Batch[] = [];
  for (const { key: revision, value } of state.tables.log.getRange({
    start: from + 1,
    end: state.revision + 1,
    limit: replayed,
  })) {
    batches.push({ revision, changes: [...decodeLog(value)] });
  }
  return batches;
}
