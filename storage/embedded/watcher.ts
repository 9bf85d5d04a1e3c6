import { setImmediate as turn } from 'node:timers/promises';
import { Compacted, type Batch, type Revision } from '../storage.js';
import type { Ledger } from './ledger.js';
import { decodeLog } from './record.js';

const replayed = 64;

/**
 * Every change under `prefix` after `from`, from memory or else from the log, with a mark whenever
 * it has caught up.
 */
export async function* watchPrefix(
  ledger: Ledger,
  prefix: string,
  from: Revision,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  let [at, marked] = [from, -1];
  let resume = (): void => {};
  const go = (): void => resume();
  signal.addEventListener('abort', go);
  try {
    while (!signal.aborted && !ledger.closed) {
      if (at < ledger.oldest) throw new Compacted(ledger.oldest);
      for (const batch of at < ledger.revision ? after(ledger, at) : []) {
        at = batch.revision;
        const changes = batch.changes.filter(({ key }) => key.startsWith(prefix));
        if (changes.length === 0) continue;
        marked = at;
        yield { revision: at, changes };
        if (signal.aborted || ledger.closed) return;
      }
      if (at < ledger.revision) {
        await turn();
        continue;
      }
      if (marked < at && at === ledger.revision) {
        marked = at;
        yield { revision: at, changes: [] };
        continue;
      }
      const { seconds } = ledger;
      await new Promise<void>((resolve) => {
        resume = resolve;
        ledger.wait(go);
      });
      if (ledger.seconds > seconds && at === ledger.revision) marked = -1;
    }
  } finally {
    signal.removeEventListener('abort', go);
  }
}

function after(ledger: Ledger, from: Revision): readonly Batch[] {
  return ledger.recent(from) ?? replay(ledger, from);
}

/** Some of the changes after `from`, from the log. */
function replay(ledger: Ledger, from: Revision): Batch[] {
  const batches: Batch[] = [];
  for (const { key: revision, value } of ledger.tables.log.getRange({
    start: from + 1,
    end: ledger.revision + 1,
    limit: replayed,
  })) {
    batches.push({ revision, changes: [...decodeLog(value)] });
  }
  return batches;
}
