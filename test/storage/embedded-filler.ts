import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { UnavailableError } from '../../storage/storage.js';
import { everything, increment, made, remove, text } from './drive.js';

/**
 * Fills a small disk, sees writes refused and reads go on, makes room, and finds everything as it
 * was.
 */
const disk = process.argv[2]!;
const valueOf = (i: number): Buffer => Buffer.alloc(50_000, i);
const ballast = join(disk, 'ballast');
let storage = await openEmbedded({ directory: join(disk, 'store') });
writeFileSync(ballast, Buffer.alloc(2 << 20));

let written = 0;
await assert.rejects(
  async () => {
    for (; ; written++)
      made(await storage.commit([], [{ put: `k${written}`, value: valueOf(written) }]));
  },
  { name: 'UnavailableError', full: true },
);
const refused = await Promise.allSettled(
  Array.from({ length: 20 }, (_, i) =>
    storage.commit([], [{ put: `more${i}`, value: Buffer.alloc(500_000) }]),
  ),
);
for (const result of refused)
  assert(
    result.status === 'rejected' && result.reason instanceof UnavailableError && result.reason.full,
  );
assert.equal((await storage.list(everything)).entries.length, written);

rmSync(ballast);
await increment(storage, 'counter');
await storage.compact((await storage.get('counter')).revision);
await remove(storage, 'k0', 'k1');
await storage.close();

storage = await openEmbedded({ directory: join(disk, 'store') });
assert.equal(await text(storage, 'counter'), '1');
const { entries } = await storage.list({ start: 'k', end: 'l' });
assert.equal(entries.length, written - 2);
for (const { key, value } of entries) assert(value.equals(valueOf(Number(key.slice(1)))));
await storage.close();
process.stdout.write('recovered\n');
