import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../../observability/log.js';
import { secondMs } from '../../../registry/schema/units.js';
import type { Storage } from '../../../storage/storage.js';

/** What is followed: the keys with a prefix, until the signal aborts. */
interface FollowedValues {
  readonly storage: Storage;
  readonly prefix: string;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/**
 * Calls `onValue` for each value below a prefix that changes or is deleted, until the signal aborts.
 * `begin` returns the revision to watch from; it is called again a second after an interruption.
 */
export async function followValues(
  of: FollowedValues,
  begin: () => Promise<number>,
  onValue: (key: string, value: Buffer | undefined) => void,
): Promise<void> {
  const { storage, prefix, signal, log } = of;
  const watch = async (): Promise<void> => {
    const batches = storage.watch(prefix, await begin(), signal, { newValuesOnly: true });
    for await (const { changes } of batches) {
      for (const { key, entry } of changes) onValue(key, entry?.value);
    }
  };
  while (!signal.aborted) {
    await watch().catch((error: unknown) => {
      if (!signal.aborted) {
        log.warn({ err: error, prefix }, 'the watch on a prefix was interrupted');
      }
    });
    await pause(secondMs, undefined, { ref: false, signal }).catch(() => {});
  }
}
