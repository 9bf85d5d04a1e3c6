import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { verifySnapshot } from '../../storage/snapshot/reader.js';
import { restoredBase } from '../../storage/snapshot/target.js';
import { CompactedError, type Storage, type Write } from '../../storage/storage.js';
import { expectFor } from '../support/expect-for.js';
import { draw } from '../support/random.js';
import { bytes, everything, made, put, remove, text, Watched } from './drive.js';
import { type EtcdServer, startEtcd } from './etcd-server.js';
import { compile, type Program, type Running } from './program.js';
import { contentOf, embeddedSite, etcdSite, type Site, unwatched, using } from './snapshots.js';

let server: EtcdServer;
let restorer: Program;
let folder: string;
let sites = 0;
const running: Running[] = [];

beforeAll(async () => {
  [server, restorer] = await Promise.all([
    startEtcd(),
    compile('test/storage/snapshot-process.ts'),
  ]);
  process.stdout.write(`etcd ${server.version}\n`);
});
afterAll(async () => {
  await server.stop();
  await restorer.remove();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestibule-snapshot-'));
});
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  await rm(folder, { recursive: true });
});

const kinds = ['embedded', 'etcd'] as const;

/** A place that has nothing yet. */
function site(kind: Site['kind']): Site {
  sites += 1;
  if (kind === 'etcd') return etcdSite(server.endpoint, `/snapshot${sites}/`);
  mkdirSync(join(folder, String(sites)));
  return embeddedSite(join(folder, String(sites)));
}

const file = (name = 'a.snapshot'): string => join(folder, name);

/**
 * Keys of every range with values of many lengths, some that expire, some written twice, some
 * deleted; answers the last revision.
 */
async function fill(storage: Storage, many = 300): Promise<number> {
  const soon = Date.now() + 3_600_000;
  for (let i = 0; i < many; i += 50) {
    const writes = Array.from(
      { length: 50 },
      (_, j): Write => ({
        put: `objects/things/${i + j}`,
        value: Buffer.alloc(((i + j) * 7) % 3000, i + j),
        ...(j % 3 === 0 && { expires: soon + i }),
      }),
    );
    made(await storage.commit([], writes));
  }
  await put(storage, {
    '!': 'first',
    '~~': 'last',
    'unique/things/name/x': '',
    'meta/epoch': '4',
    'meta/policy': '{}',
    'meta/replicas/one': '{}',
    'meta/compaction': '{"time":1,"revision":1}',
    'oidc/Session/x': 'sealed',
  });
  made(await storage.commit([], [{ put: 'objects/large/x', value: Buffer.alloc(1_000_000, 7) }]));
  await put(storage, { 'objects/things/7': 'twice' });
  return remove(storage, 'objects/things/8');
}

describe.each(kinds)('saved from %s', (from) => {
  test.each(kinds)('and restored into %s, everything is there', async (to) => {
    const [source, target] = [site(from), site(to)];
    const [before, content] = await using(
      source.open(),
      async (storage) => [await fill(storage), await contentOf(storage)] as const,
    );
    const saved = await source.save(file());
    expect(saved.header).toMatchObject({
      store: from,
      revision: before,
      epoch: 4,
      release: 'test',
    });
    expect(saved.stats.keys).toBe(content.length);
    expect(saved.stats.ranges.get('objects/things')?.keys).toBe(299);
    expect(saved.stats.ranges.get('meta')?.keys).toBe(1);
    const { epoch, base } = await target.restore(file());
    expect([epoch, base]).toEqual([5, expect.any(Number)]);
    expect(base).toBeGreaterThanOrEqual(before + 1e9);
    await using(target.open(), async (storage) => {
      expect(await contentOf(storage)).toEqual(content);
      expect(await text(storage, 'meta/epoch')).toBe('5');
      for (const key of ['meta/replicas/one', 'meta/compaction', 'meta/restoring']) {
        expectFor(key, await text(storage, key)).toEqual(undefined);
      }
      for (const from of [1, before - 1, before, before + 1, base - 1]) {
        await expect(storage.list(everything, { at: from })).rejects.toThrow(CompactedError);
        await expect(new Watched(storage, 'objects/', from).ended).rejects.toThrow(CompactedError);
      }
      const { entries, revision } = await storage.list(everything);
      for (const entry of entries) expect(entry.revision).toBeGreaterThanOrEqual(base);
      const watched = new Watched(storage, 'objects/', revision);
      const next = await put(storage, { 'objects/things/new': '1' });
      expect(next).toBeGreaterThan(revision);
      expect((await watched.reached(next)).changes.map(({ key }) => key)).toEqual([
        'objects/things/new',
      ]);
      await watched.stop();
    });
    await using(target.open(), async (storage) => {
      // opened again, it still knows nothing of before
      await expect(new Watched(storage, 'objects/', before).ended).rejects.toThrow(CompactedError);
      expect(await text(storage, 'objects/things/new')).toBe('1');
    });
  });

  test('a restored store is saved and restored again: epoch and revisions rise each time', async () => {
    const [first, second, third] = [site(from), site('embedded'), site('etcd')];
    const content = await using(first.open(), async (storage) => {
      await fill(storage, 50);
      return contentOf(storage);
    });
    const one = await first.save(file('1'));
    const restored = await second.restore(file('1'));
    const two = await second.save(file('2'));
    expect(two.header).toMatchObject({ epoch: 5, revision: restored.base });
    expect(two.header.revision).toBeGreaterThan(one.header.revision);
    const last = await third.restore(file('2'));
    expect(last).toMatchObject({ epoch: 6 });
    expect(last.base).toBeGreaterThanOrEqual(two.header.revision + 1e9);
    expect(await using(third.open(), contentOf)).toEqual(content);
  });

  test('what had its time over is collected where it was restored, and the rest is not', async () => {
    const source = site(from);
    await using(source.open(), async (storage) => {
      const now = Date.now();
      made(
        await storage.commit(
          [],
          [
            { put: 'over', value: bytes('1'), expires: now - 1000 },
            { put: 'later', value: bytes('1'), expires: now + 3_600_000 },
            { put: 'always', value: bytes('1') },
          ],
        ),
      );
    });
    await source.save(file());
    const target = site('embedded');
    await target.restore(file());
    await using(target.open({ sweeping: true }), async (storage) => {
      const watched = new Watched(storage, '', (await storage.get('over')).revision);
      if ((await storage.get('over')).entry) {
        await watched.until(() =>
          watched.changes.some(({ key, entry }) => key === 'over' && !entry),
        );
      }
      await watched.stop();
      expect((await contentOf(storage)).map(([key]) => key)).toEqual(['always', 'later']);
    });
  });

  test('a save while others write is one revision', async () => {
    const source = site(from);
    await using(source.open(), (storage) => fill(storage, 2000));
    const place =
      from === 'embedded'
        ? ['embedded', join(folder, String(sites))]
        : ['etcd', server.endpoint, `/snapshot${sites}/`];
    const writer = restorer.start(['write', ...place]);
    running.push(writer);
    for (let i = 0; i < 3; i++) {
      expect((await writer.lines.next()).value).toMatch(/^\d+$/);
      await source.save(file(String(i)));
      const target = site('embedded');
      await target.restore(file(String(i)));
      await using(target.open(), async (storage) => {
        const { entries } = await storage.list({ start: '!pair', end: '!pais' });
        const last = (await storage.list({ start: '~pair', end: '~pais' })).entries;
        expect(entries.length).toBe(10);
        expect(new Set([...entries, ...last].map(({ value }) => value.toString())).size).toBe(1);
      });
    }
  });
});

describe('a file', () => {
  const prepare = async (): Promise<Buffer> => {
    const source = site('embedded');
    await using(source.open(), (storage) => fill(storage, 50));
    await source.save(file());
    return readFileSync(file());
  };

  test('is readable by its owner alone, says what it is, and is never overwritten', async () => {
    const whole = await prepare();
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(whole.toString('latin1', 0, 100)).toMatch(
      /^vestibule snapshot 1\n\{"release":"test","time":"\d{4}-/,
    );
    await expect(embeddedSite(join(folder, String(sites))).save(file())).rejects.toThrow(
      `${file()} exists already`,
    );
    expect(readFileSync(file()).equals(whole)).toBe(true);
    expect((await readdir(folder)).filter((name) => name.includes('partial'))).toEqual([]);
    const { items, bytes: size } = await verifySnapshot(file());
    expect([items, size]).toEqual([expect.any(Number), whole.length]);
  });

  test.each(kinds)(
    'cut short or with one bit flipped anywhere is refused, and nothing is in %s',
    async (to) => {
      const whole = await prepare();
      const target = site(to);
      const empty = async (): Promise<void> => {
        if (to === 'embedded') {
          expect(await readdir(join(folder, String(sites)))).toEqual([]);
        } else {
          expect(await using(target.open(), (storage) => storage.count(everything))).toBe(0);
        }
      };
      const refuses = async (content: Buffer, why: RegExp): Promise<void> => {
        writeFileSync(file('bad'), content);
        await expect(target.restore(file('bad'))).rejects.toThrow(why);
      };
      for (const length of [
        1,
        10,
        21,
        60,
        200,
        5000,
        whole.length - 50,
        whole.length - 33,
        whole.length - 1,
      ]) {
        await refuses(whole.subarray(0, length), /is cut short|is not a snapshot/);
      }
      await refuses(Buffer.alloc(0), /is not a snapshot/);
      await refuses(Buffer.concat([whole, Buffer.from('x')]), /is cut short/);
      const places = [
        0,
        19,
        25,
        200,
        300,
        1000,
        20_000,
        whole.length - 60,
        whole.length - 45,
        whole.length - 36,
        whole.length - 20,
        whole.length - 1,
        ...Array.from({ length: 20 }, () => draw(whole.length)),
      ];
      for (const at of places) {
        const bad = Buffer.from(whole);
        bad[at]! ^= 1 << draw(7);
        await refuses(bad, /is damaged|is not a snapshot|snapshot format|is cut short/);
      }
      const newer = Buffer.from(whole);
      newer.write('2', 'vestibule snapshot '.length);
      await refuses(newer, /has snapshot format 2, and this release reads format 1/);
      await empty();
      await target.restore(file());
    },
  );

  test.each(kinds)(
    'that changes before the restore is refused, and %s stays what it was',
    async (to) => {
      const whole = await prepare();
      const target = site(to);
      copyFileSync(file(), file('moving'));
      const watcher = unwatched();
      const progress = (): void => {
        const other = Buffer.from(whole);
        other[other.length - 5000]! ^= 1;
        writeFileSync(file('moving'), other);
      };
      const { readItems } = await import('../../storage/snapshot/reader.js');
      const verified = await verifySnapshot(file('moving'));
      progress();
      await expect(
        (async () => {
          for await (const _ of readItems(verified)) {
            /* all of it */
          }
        })(),
      ).rejects.toThrow('was changed while it was read');
      await expect(target.restore(file('moving'), watcher)).rejects.toThrow(/is damaged/);
    },
  );
});

describe.each(kinds)('into %s', (to) => {
  const prepare = async (many = 100): Promise<[string, unknown]> => {
    const source = site('embedded');
    const content = await using(source.open(), async (storage) => {
      await fill(storage, many);
      return contentOf(storage);
    });
    await source.save(file());
    return [file(), content];
  };

  test('only where nothing is, said whether it is in use', async () => {
    const [from] = await prepare();
    const target = site(to);
    const storage = await target.open();
    await put(storage, { a: '1' });
    await expect(target.restore(from)).rejects.toThrow(
      to === 'embedded' ? `in use by process ${process.pid}` : 'is not empty',
    );
    await storage.close();
    await expect(target.restore(from)).rejects.toThrow(
      to === 'embedded' ? 'has a store already' : 'is not empty',
    );
    expect(await using(target.open(), (again) => text(again, 'a'))).toBe('1');
  });

  test('a restore that is killed leaves nothing, or says that it is not whole', async () => {
    const [from, content] = await prepare(3000);
    const target = site(to);
    const place =
      to === 'embedded'
        ? ['embedded', join(folder, String(sites))]
        : ['etcd', server.endpoint, `/snapshot${sites}/`];
    for (let i = 0; i < 2; i++) {
      const killed = restorer.start(['restore', ...place, from]);
      running.push(killed);
      expect((await killed.lines.next()).value).toBe('some');
      killed.child.kill('SIGKILL');
      expect((await killed.ended).code).toBe('SIGKILL');
      await expect(target.open()).rejects.toThrow(/was interrupted.*vestibule snapshot restore/);
    }
    await target.restore(from);
    expect(await using(target.open(), contentOf)).toEqual(content);
    if (to === 'embedded') expect(await readdir(join(folder, String(sites)))).toEqual(['store']);
  });

  test('a restore that is interrupted ends at once', async () => {
    const [from, content] = await prepare();
    const target = site(to);
    await expect(
      target.restore(from, { progress: () => undefined, signal: AbortSignal.abort() }),
    ).rejects.toThrow(/abort/);
    if (to === 'embedded') {
      expect(await readdir(join(folder, String(sites)))).toEqual([]);
    } else {
      await expect(target.open()).rejects.toThrow('was interrupted');
    }
    await target.restore(from);
    expect(await using(target.open(), contentOf)).toEqual(content);
  });
});

test('of two restores below one prefix at once, one ends and the store is whole', async () => {
  const source = site('embedded');
  const content = await using(source.open(), async (storage) => {
    await fill(storage, 1000);
    return contentOf(storage);
  });
  await source.save(file());
  const target = site('etcd');
  const results = await Promise.allSettled([target.restore(file()), target.restore(file())]);
  for (const result of results) {
    if (result.status === 'rejected') {
      expect(result.reason).toMatchObject({
        message: expect.stringMatching(
          /another restore started|another process writes|is not empty/,
        ),
      });
    }
  }
  if (results.every(({ status }) => status === 'rejected')) await target.restore(file());
  expect(await using(target.open(), contentOf)).toEqual(content);
});

test('revisions of a second restore of one snapshot are above those of the first', () => {
  const header = { release: 'x', time: '', store: 'etcd', revision: 12, epoch: 0 } as const;
  const first = restoredBase(header, Date.parse('2030-01-01'));
  expect(restoredBase(header, Date.parse('2030-01-01T00:01:00'))).toBeGreaterThan(
    first + 1_000_000,
  );
  expect(restoredBase({ ...header, revision: 2 ** 51 }, 0)).toBe(2 ** 51 + 1e9);
});
