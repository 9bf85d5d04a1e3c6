import { expect } from '@jest/globals';
import { type Entry, prefixRange, type Revision, type Storage } from '../../../storage/storage.js';
import { bytes, everything, made, put, remove } from '../drive.js';
import { withStore } from '../fixture.js';
import type { OpenStore } from '../store.js';

const numbered = (i: number): string => `n/${String(i).padStart(5, '0')}`;
const keysOf = (entries: readonly Entry[]): string[] => entries.map(({ key }) => key);

/** Ranges, pages and old revisions. */
export function listCases(open: OpenStore): void {
  withStore(open, 'a list is in key order, bounded, and says how many follow', async (storage) => {
    await put(storage, { b: '2', a: '1', d: '4', c: '3' });
    expect(keysOf((await storage.list(everything)).entries)).toEqual(['a', 'b', 'c', 'd']);
    const page = await storage.list(everything, { limit: 3 });
    expect(keysOf(page.entries)).toEqual(['a', 'b', 'c']);
    expect(page.more).toBe(1);
    expect((await storage.list(everything, { limit: 4 })).more).toBe(0);
    expect(keysOf((await storage.list({ start: 'b', end: 'd' })).entries)).toEqual(['b', 'c']);
    expect(await storage.list({ start: 'x', end: 'z' })).toMatchObject({ entries: [], more: 0 });
  });

  withStore(open, 'the keys of a range are counted, however many', async (storage) => {
    await put(storage, { 'c/a': '1', 'c/b': '2', c0: 'x', 'b/z': 'x' });
    expect([
      await storage.count(prefixRange('c/')),
      await storage.count({ start: 'c/b', end: 'c/c' }),
      await storage.count(prefixRange('nothing/')),
    ]).toEqual([2, 1, 0]);
    for (let i = 0; i < 10_100; i += 100) {
      await put(
        storage,
        Object.fromEntries(Array.from({ length: 100 }, (_, j) => [numbered(i + j), ''])),
      );
    }
    await remove(storage, numbered(3), numbered(9_000));
    expect(await storage.count(prefixRange('n/'))).toBe(10_098);
  });

  withStore(open, 'a range with its separator does not reach its neighbours', async (storage) => {
    await put(storage, {
      'o/a': '0',
      'o/a/1': '1',
      'o/a/2': '2',
      'o/a-b/1': 'x',
      'o/ab/1': 'x',
      'o/a0': 'x',
      'o/a.': 'x',
    });
    expect(keysOf((await storage.list(prefixRange('o/a/'))).entries)).toEqual(['o/a/1', 'o/a/2']);
  });

  withStore(
    open,
    'an old revision reads as it was, across changes, deletions and rebirths',
    async (storage) => {
      const states = await someHistory(storage);
      for (const [revision, state] of states) {
        const page = await storage.list(everything, { at: revision });
        expect(
          Object.fromEntries(page.entries.map(({ key, value }) => [key, value.toString()])),
        ).toEqual(state);
        expect(page.revision).toBe(revision);
        const first = await storage.list(everything, { at: revision, limit: 2 });
        expect(first.more).toBe(Math.max(0, Object.keys(state).length - 2));
      }
    },
  );

  withStore(
    open,
    'an old revision reads as it was after a restart, when nothing is in memory',
    async (storage, store) => {
      const states = await someHistory(storage);
      await store.disturb();
      for (const [revision, state] of states) {
        const page = await store.storage.list(everything, { at: revision });
        expect(
          Object.fromEntries(page.entries.map(({ key, value }) => [key, value.toString()])),
        ).toEqual(state);
        expect((await store.storage.list(everything, { at: revision, limit: 1 })).more).toBe(
          Math.max(0, Object.keys(state).length - 1),
        );
      }
    },
  );

  withStore(
    open,
    'five thousand keys are listed at one revision while they are written',
    async (storage) => {
      for (let i = 0; i < 5000; i += 100) {
        made(
          await storage.commit(
            [],
            Array.from({ length: 100 }, (_, j) => ({ put: numbered(i + j), value: bytes('old') })),
          ),
        );
      }
      const writing = new AbortController();
      const writer = (async () => {
        for (let i = 4999; !writing.signal.aborted; i = (i + 4999) % 5000) {
          made(
            await storage.commit(
              [],
              [i % 7 === 0 ? { delete: numbered(i) } : { put: numbered(i), value: bytes('new') }],
            ),
          );
        }
      })();
      const { revision } = await storage.get(numbered(0));
      const whole = await storage.list(everything, { at: revision });
      expect(whole.entries.every((entry) => entry.revision <= revision)).toBe(true);
      const latest = await storage.list(everything);
      expect(latest.entries.every((entry) => entry.revision <= latest.revision)).toBe(true);
      const paged = await inPages(storage, latest.revision);
      writing.abort();
      await writer;
      expect(paged).toEqual(latest.entries);
    },
  );

  withStore(open, 'how many follow is counted up to a thousand', async (storage) => {
    for (let i = 0; i < 1200; i += 100) {
      made(
        await storage.commit(
          [],
          Array.from({ length: 100 }, (_, j) => ({ put: numbered(i + j), value: bytes('x') })),
        ),
      );
    }
    for (const [limit, more] of [
      [1, 1000],
      [199, 1000],
      [200, 1000],
      [201, 999],
      [1199, 1],
      [1200, 0],
      [5000, 0],
    ]) {
      expect((await storage.list(everything, { limit: limit! })).more).toBe(more);
      for (const ahead of [1, 7]) {
        expect((await storage.list(everything, { limit: limit!, ahead })).more).toBe(
          Math.min(more!, ahead),
        );
      }
    }
  });

  withStore(
    open,
    'a page that is asked for again and again is always of the latest',
    async (storage) => {
      const names = Array.from({ length: 60 }, (_, i) => numbered(i * 2));
      await put(storage, Object.fromEntries(names.map((name) => [name, 'first'])));
      const page = async (
        limit = 50,
        range = prefixRange('n/'),
      ): Promise<[values: string[], more: number]> => {
        const { entries, more, revision } = await storage.list(range, { limit });
        expect(revision).toBeGreaterThanOrEqual(
          Math.max(...entries.map((entry) => entry.revision)),
        );
        return [entries.map(({ key, value }) => `${key}=${value.toString()}`), more];
      };
      const expected = (): [string[], number] => {
        const all = [...state].sort().map(([key, value]) => `${key}=${value}`);
        return [all.slice(0, 50), Math.max(0, all.length - 50)];
      };
      const state = new Map(names.map((name) => [name, 'first']));
      const changes: [string, string | undefined][] = [
        [numbered(0), 'second'],
        [numbered(1), 'between'],
        [numbered(118), 'last'],
        [numbered(119), 'behind'],
        [numbered(4), undefined],
        [numbered(119), undefined],
      ];
      for (const [key, value] of changes) {
        for (let i = 0; i < 2; i += 1) expect(await page()).toEqual(expected());
        if (value === undefined) {
          await remove(storage, key);
          state.delete(key);
        } else {
          await put(storage, { [key]: value });
          state.set(key, value);
        }
        expect(await page()).toEqual(expected());
        await put(storage, { elsewhere: value ?? '' });
        expect(await page()).toEqual(expected());
      }
      expect((await page(40, { start: numbered(3), end: numbered(200) }))[0]).toHaveLength(40);
      const racing = await Promise.all(
        Array.from({ length: 40 }, async (_, i) => {
          if (i % 2) await put(storage, { [numbered(6)]: String(i) });
          return page();
        }),
      );
      for (const [values] of racing) expect(values).toHaveLength(50);
      state.set(numbered(6), (await storage.get(numbered(6))).entry!.value.toString());
      expect(await page()).toEqual(expected());
    },
  );
}

async function inPages(storage: Storage, at: Revision): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let start = everything.start; ; ) {
    const page = await storage.list({ start, end: everything.end }, { limit: 500, at });
    entries.push(...page.entries);
    if (page.more === 0) return entries;
    start = `${entries.at(-1)!.key}!`;
  }
}

async function someHistory(storage: Storage): Promise<[Revision, Record<string, string>][]> {
  const states: [Revision, Record<string, string>][] = [];
  const state: Record<string, string> = {};
  const step = (revision: Revision): void => {
    states.push([revision, { ...state }]);
  };
  const set = async (values: Record<string, string>): Promise<void> => {
    Object.assign(state, values);
    step(await put(storage, values));
  };
  const drop = async (key: string): Promise<void> => {
    delete state[key];
    step(await remove(storage, key));
  };
  await set({ a: '1', b: '1', c: '1' });
  await set({ b: '2' });
  await drop('a');
  await set({ a: '3', d: '3' });
  await drop('a');
  await drop('d');
  await set({ a: '4', b: '4' });
  await drop('b');
  await set({ b: '5' });
  return states;
}
