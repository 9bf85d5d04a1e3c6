import type { StagedWrites, Transaction } from '../../registry/kind.js';
import type { Worker } from '../../registry/outbox.js';
import type { Store } from '../../registry/store.js';
import { isLive } from '../../registry/encoded-object.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { PolicyDecision } from '../../kinds/policy/policy-decision.js';

/**
 * Milliseconds after which what was tallied is added to its object, and for which that is tried.
 */
const waits = { fold: 5_000, kept: 90 * 86_400_000 };

const bytes = 12;
const keyOf = (series: string): string => `tally/${series}`;

/** Which series a row of the outbox is about. */
interface Order {
  readonly series: string;
}

/**
 * Counts one more of a series in the commit of the change itself. The first is added to the object
 * by `add`; those that follow within five seconds are a number beside it, since reading, judging
 * and writing an object again costs more than the change does.
 */
export async function addToSeries(
  tx: Transaction,
  series: string,
  now: number,
  add: () => Promise<void>,
): Promise<void> {
  const key = keyOf(series);
  const held = await tx.read(key);
  if (held) return tx.write(key, encode(countOf(held.value) + 1, now), held.expires);
  await add();
  tx.write(key, encode(0, now), now + waits.kept);
  await tx.enqueue('tally', { series } satisfies Order, now + waits.kept, {
    notBefore: now + waits.fold,
  });
}

/**
 * Adds what was tallied to its object and ends the tally; where the object is gone meanwhile it is
 * dropped.
 */
export const seriesCounterWorker = (store: Store): Worker => ({
  name: 'tally',
  delivery: 'Idempotent',
  parallel: 4,
  async run(payload) {
    const { series } = payload as Order;
    const key = keyOf(series);
    const { entry } = await store.storage.get(key);
    if (!entry) return { done: true };
    const ended: StagedWrites = {
      checks: [{ key, is: entry.revision }],
      writes: [{ delete: key }],
    };
    const count = countOf(entry.value);
    if (count === 0 || !isLive(entry, Date.now())) return { done: true, part: ended };
    const added = await store.stage(PolicyDecision, series, (old) =>
      old
        ? {
            ...old,
            status: {
              ...old.status,
              count: old.status.count + count,
              lastTimestamp: toTimestamp(lastOf(entry.value)),
            },
          }
        : 'leave',
    );
    return {
      done: true,
      part: {
        checks: [...ended.checks, ...added.checks],
        writes: [...ended.writes, ...added.writes],
      },
    };
  },
});

/** How many, and when the last was, in milliseconds since the epoch. */
function encode(count: number, last: number): Buffer {
  const value = Buffer.allocUnsafe(bytes);
  value.writeUInt32BE(count, 0);
  value.writeDoubleBE(last, 4);
  return value;
}

const countOf = (value: Buffer): number => value.readUInt32BE(0);
const lastOf = (value: Buffer): number => value.readDoubleBE(4);
