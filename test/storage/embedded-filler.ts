import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compactOnce } from '../../storage/compactor.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { UnavailableError } from '../../storage/storage.js';
import { increment, made, remove, text } from './drive.js';

/**
 * Fills a small disk, sees values refused and reads go on, makes room on the disk, then many times
 * in the store, and finds everything as it was.
 */
const disk = process.argv[2]!;
const ballast = join(disk, 'ballast');
const rounds = 8;
const options = { directory: join(disk, 'store'), writeBufferBytes: 1 << 20 };
let storage = await openEmbedded(options);
writeFileSync(ballast, Buffer.alloc(2 << 20));

/** Writes values, eight at a time, until the store has no space; returns the keys of those it has. */
async function fill(prefix: string, valueOf: (i: number) => Buffer): Promise<string[]> {
  const keys: string[] = [];
  for (let i = 0; ; i += 8) {
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, async (_, j) => {
        const key = `${prefix}${i + j}`;
        made(await storage.commit([], [{ put: key, value: valueOf(i + j) }]));
        return key;
      }),
    );
    for (const result of results) {
      if (result.status === 'fulfilled') {
        keys.push(result.value);
      } else {
        assert(result.reason instanceof UnavailableError && result.reason.full, result.reason);
      }
    }
    if (results.some(({ status }) => status === 'rejected')) return keys;
  }
}

let now = 0;
/** Compacts to the revision of the call before. */
async function compact(): Promise<void> {
  now += 1;
  await compactOnce(storage, 1, now);
}

const valueOf = (i: number): Buffer => Buffer.alloc(50_000, i);
const kept = await fill('k', valueOf);
// LevelDB gives space back when it has written its tables, until there is none to give.
const more = await fill('more', () => Buffer.alloc(500_000));
assert.equal((await storage.list({ start: 'k', end: 'l' })).entries.length, kept.length);

rmSync(ballast);
await increment(storage, 'counter');
await compact();
await remove(storage, kept[0]!, kept[1]!, ...more);

for (let round = 0; round < rounds; round++) {
  const keys = await fill(`r${round}/`, (i) => Buffer.alloc(i % 8 === 0 ? 20_000 : 900, i));
  assert(keys.length > 8, `${keys.length} values fit in round ${round}`);
  for (const [i, key] of keys.entries()) {
    await remove(storage, key);
    if (i % 20 === 0) await compact();
  }
}
await storage.close();

storage = await openEmbedded(options);
assert.equal(await text(storage, 'counter'), '1');
const { entries } = await storage.list({ start: 'k', end: 'l' });
assert.deepEqual(entries.map(({ key }) => key).sort(), kept.slice(2).sort());
for (const { key, value } of entries) assert(value.equals(valueOf(Number(key.slice(1)))));
await storage.close();
process.stdout.write('recovered\n');
