import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { statfsSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { open, type RootDatabase } from 'lmdb';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { readEmbedded } from '../../storage/embedded/snapshot-source.js';
import type { Entry, Storage } from '../../storage/storage.js';
import { mountDisk, mounts } from '../support/disk.js';
import { bytes, everything, put, text, Watched } from './drive.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vestibule-format-'));
});
afterEach(() => rm(directory, { recursive: true }));

const past = 1_700_000_000_000;
const openRoot = (): RootDatabase<Buffer, string> =>
  open({ path: join(directory, 'store.mdb'), noSubdir: true, maxDbs: 8, encoding: 'binary' });

/** A value as format 1 stores it: revision, expiry, bytes. */
function record(revision: number, value: string, expires = 0): Buffer {
  const head = Buffer.alloc(16);
  head.writeDoubleBE(revision, 0);
  head.writeDoubleBE(expires, 8);
  return Buffer.concat([head, bytes(value)]);
}

/** A change as format 1 logs it: lengths, key, value before, value after. */
function change(key: string, before: Buffer, after: Buffer): Buffer {
  const lengths = Buffer.alloc(10);
  lengths.writeUInt16BE(key.length, 0);
  lengths.writeUInt32BE(before.length, 2);
  lengths.writeUInt32BE(after.length, 6);
  return Buffer.concat([lengths, bytes(key), before, after]);
}

const none = Buffer.alloc(0);
const hex = (number: number): string => number.toString(16).padStart(14, '0');

/**
 * Writes a store as a release with format 1 leaves it: `a` changed at revisions 2 to 201, `gone`
 * deleted at 202, `over` with an expiry since 203. Revision 1 is the empty store.
 */
async function writeFormerStore(): Promise<void> {
  const root = openRoot();
  const [current, gone, expiry, system] = ['current', 'gone', 'expiry', 'system'].map((name) =>
    root.openDB<Buffer, string>({ name, encoding: 'binary' }),
  );
  const log = root.openDB<Buffer, number>({ name: 'log', encoding: 'binary' });
  await root.transaction(() => {
    for (let revision = 2; revision <= 201; revision += 1) {
      const before = revision === 2 ? none : record(revision - 1, `${revision - 1}`);
      const changes = [change('a', before, record(revision, `${revision}`))];
      if (revision === 2) changes.push(change('gone', none, record(2, 'was here')));
      log.putSync(revision, Buffer.concat(changes));
    }
    log.putSync(202, change('gone', record(2, 'was here'), none));
    log.putSync(203, change('over', none, record(203, 'expired', past)));
    current!.putSync('a', record(201, '201'));
    current!.putSync('over', record(203, 'expired', past));
    gone!.putSync(`gone ${hex(202)}`, Buffer.alloc(1));
    expiry!.putSync(`${hex(past)} over`, Buffer.alloc(1));
    system!.putSync('format', bytes('1'));
    system!.putSync('oldest', bytes('100'));
  });
  await root.close();
}

(mounts ? test : test.skip)(
  `is not created or converted on a full disk, and is when there is space${mounts ? '' : ' (skipped: mounting a tmpfs is not permitted)'}`,
  async () => {
    mountDisk(directory, 4);
    const ballast = join(directory, 'ballast');
    try {
      fillDisk(ballast);
      await expect(openEmbedded({ directory })).rejects.toMatchObject({ full: true });
      await rm(ballast);
      await writeFormerStore();
      fillDisk(ballast);
      await expect(openEmbedded({ directory })).rejects.toMatchObject({ full: true });
      await rm(ballast);
      const storage = await openEmbedded({ directory });
      expect(await text(storage, 'a')).toBe('201');
      await storage.close();
    } finally {
      execFileSync('umount', ['-l', directory]);
    }
  },
);

/** Writes a file until the disk has no more than a few kilobytes left. */
function fillDisk(path: string): void {
  const { bavail, bsize } = statfsSync(directory);
  writeFileSync(path, Buffer.alloc(bavail * bsize - (16 << 10)));
}

const textsOf = (entries: Iterable<Entry>): string[] =>
  [...entries].map(({ key, value, revision, expires }) =>
    [key, value.toString(), revision, expires].join(' '),
  );
const latest = ['a 201 201 ', `over expired 203 ${past}`];

async function expectFormerStore(storage: Storage): Promise<void> {
  const { entries, revision } = await storage.list(everything);
  expect([textsOf(entries), revision]).toEqual([latest, 203]);
  const earlier = await storage.list(everything, { at: 150 });
  expect(textsOf(earlier.entries)).toEqual(['a 150 150 ', 'gone was here 2 ']);
  await expect(storage.list(everything, { at: 99 })).rejects.toThrow('is compacted');
  const watched = new Watched(storage, '', 150);
  await watched.until(() => watched.changes.some(({ key }) => key === 'over'));
  await watched.stop();
  expect(watched.changes).toHaveLength(53);
}

test('a store of format 1 is opened with its entries, its history and its expiries', async () => {
  await writeFormerStore();
  let storage = await openEmbedded({ directory, sweepIntervalMs: 50, sweepGraceMs: 2 ** 42 });
  await expectFormerStore(storage);
  expect(await put(storage, { b: '1' })).toBe(204);
  await storage.close();
  const root = openRoot();
  const system = root.openDB<Buffer, string>({ name: 'system', encoding: 'binary' });
  expect(system.get('format')!.toString()).toBe('2');
  expect(root.doesExist('log')).toBe(false);
  await root.close();
  storage = await openEmbedded({ directory, sweepIntervalMs: 50, sweepGraceMs: 0 });
  const watched = new Watched(storage, 'over', 204);
  await watched.until(() => watched.changes.some(({ entry }) => entry === undefined));
  await watched.stop();
  expect([await text(storage, 'a'), await text(storage, 'b')]).toEqual(['201', '1']);
  await storage.close();
});

test('a conversion that was interrupted is repeated', async () => {
  await writeFormerStore();
  const root = openRoot();
  const formerLog = root.openDB<Buffer, number>({ name: 'log', encoding: 'binary' });
  await root.transaction(() => {
    for (const { key, value } of formerLog.getRange({ end: 65 }))
      (root as unknown as RootDatabase<Buffer, number>).putSync(key, value);
  });
  await root.close();
  const storage = await openEmbedded({ directory });
  await expectFormerStore(storage);
  await storage.close();
});

test('a store of format 1 is saved without being converted', async () => {
  await writeFormerStore();
  await readEmbedded(directory, async (source) => {
    const saved: Entry[] = [];
    for await (const page of source.pages()) saved.push(...page);
    expect([textsOf(saved), source.revision]).toEqual([latest, 203]);
  });
  const root = openRoot();
  const system = root.openDB<Buffer, string>({ name: 'system', encoding: 'binary' });
  expect(system.get('format')!.toString()).toBe('1');
  await root.close();
});
