import { join } from 'node:path';
import { open } from 'lmdb';
import type { MakeLoad } from '../load.js';
import { type Footprint, keyOf, newKeyOf } from '../measure/footprint.js';

/**
 * A durable change by lmdb alone, flushed before it counts: one transaction that compares and writes
 * the keys of `footprint`.
 */
const make: MakeLoad<{ folder: string; inFlight: number; footprint: Footprint }> = async ({
  folder,
  inFlight,
  footprint: { replaced, added },
}) => {
  const root = open<Buffer, string>({
    path: join(folder, 'ceiling.mdb'),
    noSubdir: true,
    encoding: 'binary',
    overlappingSync: false,
    eventTurnBatching: false,
    cache: false,
    useVersions: true,
  });
  const versions = Array.from({ length: inFlight }, () => 1);
  const write = (worker: number, version: number): void => {
    for (const [i, { keyBytes, valueBytes }] of replaced.entries()) {
      void root.put(keyOf(worker, i, keyBytes), Buffer.alloc(valueBytes, 'y'), version);
    }
    for (const [i, { keyBytes, valueBytes }] of added.entries()) {
      void root.put(newKeyOf(worker, i, keyBytes, version), Buffer.alloc(valueBytes, 'y'), version);
    }
  };
  await Promise.all(versions.map((version, worker) => root.batch(() => write(worker, version))));
  return {
    inFlight,
    async operation(worker) {
      const version = versions[worker]!;
      const compared = replaced.map(({ keyBytes }, i) => keyOf(worker, i, keyBytes));
      const won = await root.transaction(() => {
        if (compared.some((key) => root.getEntry(key)?.version !== version)) return false;
        write(worker, version + 1);
        return true;
      });
      if (!won) throw new Error('lost a race without an opponent');
      versions[worker] = version + 1;
    },
    close: async () => {
      await root.close();
    },
  };
};
export default make;
