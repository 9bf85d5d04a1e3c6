import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ClassicLevel } from 'classic-level';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { mountDisk, mounts } from '../support/disk.js';
import { expectFor } from '../support/expect-for.js';
import { draw } from '../support/random.js';
import { everything, put } from './drive.js';
import { compile, type Program, type Running } from './program.js';

let program: Program;
let directory: string;
const running: Running[] = [];

beforeAll(async () => {
  program = await compile('test/storage/embedded-writer.ts');
});
afterAll(() => program.remove());
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vestibule-faults-'));
});
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  await rm(directory, { recursive: true });
});

/** Starts a process that writes until it is killed. */
async function startWriter(
  round: number,
  writers: number,
  before?: readonly string[],
): Promise<Running> {
  const writer = program.start([directory, String(round), String(writers)], before);
  running.push(writer);
  expect((await writer.lines.next()).value).toBe('open');
  return writer;
}

/** Reads acknowledged keys with their revisions, at least so many. */
async function acknowledged(writer: Running, count: number): Promise<Map<string, number>> {
  const keys = new Map<string, number>();
  while (keys.size < count) {
    const line = (await writer.lines.next()).value;
    if (line === undefined) break;
    const [key, revision] = line.split(' ');
    keys.set(key!, Number(revision));
  }
  return keys;
}

/** Opens the store, finds every acknowledged key at its revision, and returns how many keys there are. */
async function expectStored(acknowledgedKeys: ReadonlyMap<string, number>): Promise<number> {
  const storage = await openEmbedded({ directory });
  const { entries } = await storage.list(everything);
  const stored = new Map(entries.map(({ key, revision }) => [key, revision]));
  for (const [key, revision] of acknowledgedKeys) expectFor(key, stored.get(key)).toEqual(revision);
  await storage.close();
  return stored.size;
}

describe('a process is killed', () => {
  test('no acknowledged write is lost by kill -9, and the next process opens at once', async () => {
    const all = new Map<string, number>();
    for (const [round, count] of [50, 400, 1000].entries()) {
      const writer = await startWriter(round, 16);
      for (const [key, revision] of await acknowledged(writer, count)) all.set(key, revision);
      writer.child.kill('SIGKILL');
      for (const [key, revision] of await acknowledged(writer, Infinity)) all.set(key, revision);
      await writer.ended;
      const stored = await expectStored(all);
      expect(stored).toBeLessThanOrEqual(all.size + 16 * (round + 1));
    }
  });

  const traceable = spawnSync('strace', ['-V']).status === 0;
  (traceable ? test : test.skip)(
    `no acknowledged write is lost when it is killed at any system call that changes a file${traceable ? '' : ' (skipped: strace not found)'}`,
    async () => {
      const calls = 'write,pwrite64,fdatasync,fsync,rename,unlink,openat';
      for (let round = 0; round < 30; round += 1) {
        const kill = `inject=${calls}:signal=SIGKILL:when=${40 + draw(1000)}`;
        const traced = [
          'strace',
          '-f',
          '-qq',
          '-o',
          '/dev/null',
          '-e',
          `trace=${calls}`,
          '-e',
          kill,
        ];
        const writer = program.start([directory, String(round), '4'], traced);
        running.push(writer);
        await writer.lines.next();
        const keys = await acknowledged(writer, Infinity);
        await writer.ended;
        await expectStored(keys);
      }
    },
  );

  (traceable ? test : test.skip)(
    `a failed fsync is never acknowledged and ends the process${traceable ? '' : ' (skipped: strace not found)'}`,
    async () => {
      const traced = [
        'strace',
        '-f',
        '-qq',
        '-o',
        '/dev/null',
        '-e',
        'trace=fdatasync,fsync',
        '-e',
        'inject=fdatasync,fsync:error=EIO:when=40+',
      ];
      const writer = await startWriter(0, 1, traced);
      const keys = await acknowledged(writer, Infinity);
      const { code, complaints } = await writer.ended;
      expect(code).not.toBe(0);
      expect(complaints).toContain('could not be written');
      const storage = await openEmbedded({ directory });
      for (const key of keys.keys()) expect((await storage.get(key)).entry).toBeDefined();
      await storage.close();
    },
  );
});

describe('the directory', () => {
  test('is refused to a second process, with the directory and the holder', async () => {
    const writer = await startWriter(0, 1);
    await expect(openEmbedded({ directory })).rejects.toThrow(
      `${directory} is in use by process ${writer.child.pid}: one process`,
    );
  });

  test('is refused to the same process twice, and free again after close', async () => {
    const storage = await openEmbedded({ directory });
    await expect(openEmbedded({ directory })).rejects.toThrow(`in use by process ${process.pid}`);
    await storage.close();
    await (await openEmbedded({ directory })).close();
  });

  test('of several that open at once exactly one succeeds', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 4 }, () => openEmbedded({ directory })),
    );
    const opened = results.flatMap((result) =>
      result.status === 'fulfilled' ? [result.value] : [],
    );
    expect(opened).toHaveLength(1);
    await opened[0]!.close();
  });

  test('of another format is refused', async () => {
    const storage = await openEmbedded({ directory });
    await storage.close();
    const db = new ClassicLevel(directory);
    await db.put('sformat', '5');
    await db.close();
    await expect(openEmbedded({ directory })).rejects.toThrow(
      'has format 5, written by another release; this one knows format 4',
    );
  });

  test('restored above a base goes on above it', async () => {
    let storage = await openEmbedded({ directory });
    await put(storage, { 'meta/base': '1000000000', a: '1' });
    await storage.close();
    storage = await openEmbedded({ directory });
    expect(await put(storage, { a: '2' })).toBe(1_000_000_001);
    await storage.close();
    storage = await openEmbedded({ directory });
    expect(await put(storage, { a: '3' })).toBe(1_000_000_002);
    await storage.close();
  });
});

describe('the disk is full', () => {
  const run = mounts ? test : test.skip;
  run(
    `values are refused, deletes and reads go on, compaction makes space${mounts ? '' : ' (skipped: mounting a tmpfs is not permitted)'}`,
    async () => {
      const disk = join(directory, 'disk');
      execFileSync('mkdir', [disk]);
      mountDisk(disk, 16);
      const filler = await compile('test/storage/embedded-filler.ts');
      try {
        const filling = filler.start([disk]);
        running.push(filling);
        const said = (await filling.lines.next()).value;
        expect({ said, ...(await filling.ended) }).toEqual({
          said: 'recovered',
          code: 0,
          complaints: '',
        });
      } finally {
        execFileSync('umount', ['-l', disk]);
        await filler.remove();
      }
    },
  );
});
