import { open } from 'lmdb';
import { join } from 'node:path';
import type { MakeLoad } from '../load.js';

/**
 * The ceiling of a durable change: lmdb's own compare-and-set, flushed before it counts, of as many
 * bytes as a passkey has.
 */
const make: MakeLoad<{ folder: string; inFlight: number; bytes: number }> = async ({
  folder,
  inFlight,
  bytes,
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
  const keys = versions.map((_, i) => `objects/passkeys/person-${i}`);
  await Promise.all(keys.map((key) => root.put(key, Buffer.alloc(bytes, 'x'), 1)));
  return {
    inFlight,
    async operation(worker) {
      const [was, value] = [versions[worker]!, Buffer.alloc(bytes, 'y')];
      if (!(await root.put(keys[worker]!, value, was + 1, was)))
        throw new Error('lost a race without an opponent');
      versions[worker] = was + 1;
    },
    close: async () => {
      await root.close();
    },
  };
};
export default make;
