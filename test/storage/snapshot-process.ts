import { writeSync } from 'node:fs';
import type { Storage } from '../../storage/storage.js';
import { embeddedSite, etcdSite } from './snapshots.js';

/**
 * Writes or restores in a process of its own: `write|restore embedded FOLDER | etcd ENDPOINT PREFIX
 * [FILE]`.
 */
const [what, kind, ...more] = process.argv.slice(2) as [string, string, ...string[]];
const site =
  kind === 'embedded' ? embeddedSite(more.shift()!) : etcdSite(more.shift()!, more.shift()!);

/**
 * Ten keys at the beginning and ten at the end, always written together, with as much beside them
 * as makes the store grow.
 */
async function write(storage: Storage): Promise<never> {
  for (let i = 0; ; i++) {
    const pair = Array.from({ length: 10 }, (_, j) => [`!pair${j}`, `~pair${j}`]).flat();
    await storage.commit(
      [],
      [
        ...pair.map((key) => ({ put: key, value: Buffer.from(String(i)) })),
        { put: `beside/${i}`, value: Buffer.alloc(20_000) },
      ],
    );
    if (i % 20 === 0) writeSync(1, `${i}\n`);
  }
}

if (what === 'write') await write(await site.open());
else {
  const waiting = setInterval(() => undefined, 1000);
  await site.restore(more[0]!, {
    signal: new AbortController().signal,
    progress: ({ keys }) => {
      if (keys > 1000) {
        writeSync(1, 'some\n');
        for (;;) {
          /* until it is killed */
        }
      }
    },
  });
  clearInterval(waiting);
}
