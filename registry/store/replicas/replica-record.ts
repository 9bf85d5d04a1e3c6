import { randomUUID } from 'node:crypto';
import { prefixRange, type Storage } from '../../../storage/storage.js';
import { jsonValue } from '../../schema/json-value.js';
import { secondMs } from '../../schema/units.js';

const prefix = 'meta/replicas/';
/** How often a record is written, and how long it stays without that. */
const timesMs = { interval: 5 * secondMs, ttl: 30 * secondMs };

/**
 * Writes what a replica says of itself into the store that it shares with others, every five seconds:
 * the record is gone half a minute after the replica is. Resolves after the first write, with a function
 * that stops it and deletes the record.
 */
export async function startReplicaRecord(
  storage: Storage,
  facts: () => object,
): Promise<() => Promise<void>> {
  const key = `${prefix}${randomUUID()}`;
  const write = async (): Promise<void> => {
    const value = Buffer.from(JSON.stringify(facts()));
    await storage.commit([], [{ put: key, value, expires: Date.now() + timesMs.ttl }]).catch(() => {
      /* The next write, or readiness, reports it. */
    });
  };
  let written = write();
  const timer = setInterval(() => {
    written = write();
  }, timesMs.interval);
  timer.unref();
  await written;
  return async () => {
    clearInterval(timer);
    await written;
    await storage.commit([], [{ delete: key }]).catch(() => {
      /* The record expires. */
    });
  };
}

/** Returns what the running replicas of a store say of themselves. */
export async function replicaRecords<Facts>(storage: Storage): Promise<Partial<Facts>[]> {
  const { entries } = await storage.list(prefixRange(prefix));
  return entries
    .filter(({ expires = Infinity }) => expires > Date.now())
    .map((entry) => jsonValue<Partial<Facts>>(entry));
}
