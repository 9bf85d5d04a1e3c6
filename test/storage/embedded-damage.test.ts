import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { mountDisk, mounts } from '../support/disk.js';
import { draw } from '../support/random.js';
import { everything, made } from './drive.js';
import { compile, type Program } from './program.js';

const keyCount = 40;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestibule-damage-'));
});
afterEach(() => rm(folder, { recursive: true }));

const keyOf = (i: number): string => `key-${i % keyCount}`;
/** Values of which half compresses well. */
const written = Array.from({ length: 300 }, (_, i) =>
  Buffer.from(`${i}:${'same '.repeat(200)}${Array.from({ length: 100 }, () => draw(1e9)).join()}`),
);

/** The numbers of the values that a store has at each revision, in order of keys. */
type States = Map<number, readonly number[]>;

/**
 * Writes many revisions of some keys, and copies the files as a crash would leave them; returns the
 * copy and what it has.
 */
async function crashedStore(writeBufferBytes: number): Promise<{
  directory: string;
  states: States;
  last: number;
}> {
  const original = join(folder, 'original');
  const directory = join(folder, 'crashed');
  const storage = await openEmbedded({ directory: original, writeBufferBytes });
  const states: States = new Map();
  const numbers = new Map<string, number>();
  let last = 0;
  for (let i = 0; i < written.length; i += 1) {
    const key = keyOf(i);
    last = made(await storage.commit([], [{ put: key, value: written[i]! }]));
    numbers.set(key, i);
    states.set(
      last,
      [...numbers].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, number]) => number),
    );
  }
  cpSync(original, directory, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  await storage.close();
  return { directory, states, last };
}

const filesOf = (directory: string, ending: string): string[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(directory, name));

/** Opens a store and expects exactly what it had at its revision, which it returns. */
async function expectWhole(directory: string, states: States): Promise<number> {
  const storage = await openEmbedded({ directory });
  try {
    const { entries, revision } = await storage.list(everything);
    expect(entries.map(({ value }) => written.findIndex((one) => one.equals(value)))).toEqual(
      states.get(revision) ?? [],
    );
    return revision;
  } finally {
    await storage.close();
  }
}

/**
 * Reads all keys in a process of its own, by list and one by one, and expects values that they once
 * had; returns why they cannot be read. LevelDB may end the process.
 */
async function readOnlyWritten(reader: Program, directory: string): Promise<string | undefined> {
  const { lines, ended } = reader.start([
    directory,
    ...Array.from({ length: keyCount }, (_, i) => keyOf(i)),
  ]);
  const line = (await lines.next()).value;
  if (line === undefined) return (await ended).complaints;
  const entries = JSON.parse(line) as [string, string][];
  for (const [key, value] of entries) {
    expect(
      written.some((one, i) => keyOf(i) === key && one.equals(Buffer.from(value, 'latin1'))),
    ).toBe(true);
  }
  return undefined;
}

function changeByte(path: string, offset: number): void {
  const content = readFileSync(path);
  content[offset]! ^= 1 << draw(8);
  writeFileSync(path, content);
}

describe('the files of a store', () => {
  test('with a torn end of the log have what was written before', async () => {
    const { directory, states, last } = await crashedStore(16 << 20);
    expect(await expectWhole(copyOf(directory), states)).toBe(last);
    for (const cut of [1, 7, 100, 3000, 40_000]) {
      const torn = copyOf(directory);
      const [log] = filesOf(torn, '.log');
      writeFileSync(log!, readFileSync(log!).subarray(0, -cut));
      const revision = await expectWhole(torn, states);
      expect(revision).toBeLessThan(last);
    }
  });

  test('with a byte changed within the log are refused', async () => {
    const { directory } = await crashedStore(16 << 20);
    for (let i = 0; i < 10; i += 1) {
      const damaged = copyOf(directory);
      const [log] = filesOf(damaged, '.log');
      changeByte(log!, draw(statSync(log!).size - (64 << 10)));
      await expect(openEmbedded({ directory: damaged })).rejects.toThrow(
        /^the store in .+ is damaged: its log has no revision \d+/,
      );
    }
  });

  test('with a byte changed in a table have no value that was not written', async () => {
    const reader = await compile('test/storage/embedded-reader.ts');
    try {
      const { directory } = await crashedStore(64 << 10);
      const refusals: string[] = [];
      for (let i = 0; i < 40; i += 1) {
        const damaged = copyOf(directory);
        const tables = filesOf(damaged, '.ldb');
        const table = tables[draw(tables.length)]!;
        changeByte(table, draw(statSync(table).size));
        const refusal = await readOnlyWritten(reader, damaged);
        if (refusal !== undefined) refusals.push(refusal);
      }
      for (const refusal of refusals) expect(refusal).toMatch(/damaged|[Cc]orrupt|leveldb/);
      expect(refusals.length).toBeGreaterThan(0);
    } finally {
      await reader.remove();
    }
  }, 120_000);

  test('without one of the tables are refused', async () => {
    const { directory } = await crashedStore(64 << 10);
    rmSync(filesOf(directory, '.ldb')[0]!);
    await expect(openEmbedded({ directory })).rejects.toThrow(
      /cannot be opened: Corruption: 1 missing files/,
    );
  });

  (mounts ? test : test.skip)(
    `on a read-only file system are refused${mounts ? '' : ' (skipped: mounting a tmpfs is not permitted)'}`,
    async () => {
      const disk = join(folder, 'disk');
      mkdirSync(disk);
      mountDisk(disk, 64);
      try {
        await (await openEmbedded({ directory: join(disk, 'store') })).close();
        execFileSync('mount', ['-o', 'remount,ro', disk]);
        await expect(openEmbedded({ directory: join(disk, 'store') })).rejects.toThrow(
          /cannot be opened: .*Read-only file system/,
        );
      } finally {
        execFileSync('umount', ['-l', disk]);
      }
    },
  );
});

let copies = 0;
function copyOf(directory: string): string {
  copies += 1;
  const copy = join(folder, `copy-${copies}`);
  cpSync(directory, copy, { recursive: true });
  return copy;
}
