import { expect, test } from '@jest/globals';
import type { Cluster } from '../../storage/etcd/client.js';
import { Keyspace } from '../../storage/etcd/key-prefix.js';
import { countRange, readRange } from '../../storage/etcd/lister.js';
import { RangeParts } from '../../storage/etcd/range-parts.js';
import { expectFor } from '../support/expect-for.js';
import { draw } from '../support/random.js';

interface RangeRequest {
  readonly key: Buffer;
  readonly range_end?: Buffer;
  readonly limit?: number;
}

/** A deadline that is later than that of any usual request. */
const patient = 1;

/**
 * An etcd with keys in order, which answers no request for more than `max` of them in time, and none
 * that counts more than `maxVisited` before its usual deadline. `asked` has the limits of the requests, `visited` how many keys
 * each counted.
 */
function etcdWith(keys: readonly string[], max = Infinity, maxVisited = Infinity) {
  const asked: number[] = [];
  const visited: number[] = [];
  const range = async (
    { key, range_end: end, limit = 1 }: RangeRequest,
    { deadline }: { deadline: number },
  ): Promise<unknown> => {
    if (!end) return void visited.push(1);
    asked.push(limit);
    if (limit > max) throw new Error('4 DEADLINE_EXCEEDED');
    const rest = keys.filter((one) => one >= key.toString() && one < end.toString());
    visited.push(rest.length);
    if (rest.length > maxVisited && deadline < patient) throw new Error('4 DEADLINE_EXCEEDED');
    return {
      header: { revision: '7' },
      count: String(rest.length),
      kvs: rest.slice(0, limit).map((one) => ({
        key: Buffer.from(one),
        value: Buffer.alloc(100),
        mod_revision: '5',
        create_revision: '5',
        version: '1',
        lease: '0',
      })),
    };
  };
  const read: Cluster['read'] = async (_, send) => {
    for (;;) {
      try {
        return await send({ kv: { range } } as never, { deadline: 0 });
      } catch {
        /* and again, as the cluster does */
      }
    }
  };
  return { cluster: { read } as unknown as Cluster, asked, visited };
}

/** What a list needs beside the etcd; ranges of `dividedRangeKeys` keys are read in parts. */
const contextOf = (cluster: Cluster, dividedRangeKeys?: number) => ({
  cluster,
  keyspace: new Keyspace('/v/', 0),
  findOldest: async () => 1,
  parts: new RangeParts(dividedRangeKeys),
});

test('a page that does not come in time is asked for again by halves', async () => {
  const keys = Array.from({ length: 60 }, (_, i) => `/v/k${String(i).padStart(4, '0')}`);
  const { cluster, asked } = etcdWith(keys, 30);
  const range = { start: 'k', end: 'l' };
  const { entries, more } = await readRange(contextOf(cluster), range, {});
  expect([entries.length, new Set(entries.map(({ key }) => key)).size, more]).toEqual([60, 60, 0]);
  expect(asked.slice(0, 3)).toEqual([100, 50, 25]);
});

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Names as the service makes them, each below one of the kinds. */
const namesOf = (kinds: readonly string[], count: number): string[] =>
  kinds
    .flatMap((kind) =>
      Array.from({ length: count }, () => {
        const name = Array.from({ length: 20 }, () => alphabet[draw(27)]);
        return `/v/objects/${kind}/${name.join('')}`;
      }),
    )
    .sort();

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, one) => sum + one, 0);

/**
 * The most keys that a page of 20,000 names may visit. A part has room for 130 percent of what is
 * wanted, of keys that may be twice as close as estimated. A letter that no name begins with is a
 * gap as wide as 42 second letters with a 27th of a 27th of the names each; the first part behind
 * it is at most as large as the gap.
 */
const bound = (wanted: number): number => 2 * 1.3 * wanted + (42 * 20_000) / 27 ** 2;

test('a page of a large range visits few keys but the first time, wherever it begins', async () => {
  const keys = namesOf(['accounts', 'appearances', 'sessions'], 20_000);
  const { cluster, visited } = etcdWith(keys);
  const context = contextOf(cluster);
  const range = { start: 'objects/accounts/', end: 'objects/accounts0' };
  const accounts = keys.slice(0, 20_000).map((key) => key.slice(3));
  const first = await readRange(context, range, { limit: 100 });
  expect(first.entries.map(({ key }) => key)).toEqual(accounts.slice(0, 100));
  expect([first.more, visited.splice(0)]).toEqual([1000, [20_000]]);
  expect(await readRange(context, range, { limit: 100 })).toEqual(first);
  expect(sumOf(visited.splice(0))).toBeLessThan(bound(100 + 1_000));
  const beforeGap = accounts.findIndex((key) => key.startsWith(`${range.start}f`)) - 4;
  for (const at of [0, 19_850, beforeGap, ...Array.from({ length: 9 }, () => draw(19_998))]) {
    const start = `${accounts[at]}!`;
    const page = await readRange(context, { ...range, start }, { limit: 100, ahead: 200 });
    expect(page.entries.map(({ key }) => key)).toEqual(accounts.slice(at + 1, at + 101));
    expect(page.more).toBe(Math.min(200, Math.max(0, 20_000 - at - 101)));
    expectFor(at, sumOf(visited.splice(0)) < bound(100 + 200)).toEqual(true);
  }
  const everything = await readRange(context, { start: '!', end: '~~' }, {});
  expect(everything.entries.map(({ key }) => `/v/${key}`)).toEqual(keys);
});

test('a range that etcd cannot count in time is counted in parts from then on', async () => {
  const keys = namesOf(['accounts'], 50_000);
  const { cluster, visited } = etcdWith(keys, Infinity, 30_000);
  const context = contextOf(cluster);
  const range = { start: 'objects/accounts/', end: 'objects/accounts0' };
  const page = async (start: string) => {
    const { entries, more } = await readRange(context, { ...range, start }, { limit: 100 });
    return [...entries.map(({ key }) => `/v/${key}`), more];
  };
  expect(await page(range.start)).toEqual([...keys.slice(0, 100), 1000]);
  expect(visited.filter((count) => count > 30_000)).toEqual([50_000, 50_000]);
  visited.splice(0);
  expect(await page(`${keys[20_000]!.slice(3)}!`)).toEqual([...keys.slice(20_001, 20_101), 1000]);
  expect(Math.max(...visited.splice(0))).toBeLessThan(6_000);
  expect(await countRange(context, range)).toBe(50_000);
  expect(Math.max(...visited)).toBeLessThan(30_000);
});

test('divided ranges of random keys are read whole, in order and counted', async () => {
  for (let round = 0; round < 300; round += 1) {
    const count = 1 + draw(60);
    const keys = [
      ...new Set(
        Array.from({ length: count }, () =>
          Array.from({ length: 1 + draw(5) }, () => '!-/0az~'[draw(7)]).join(''),
        ),
      ),
    ].sort();
    const { cluster } = etcdWith(keys.map((key) => `/v/${key}`));
    const context = contextOf(cluster, 2);
    for (let turn = 0; turn < 4; turn += 1) {
      const [start, end] = [
        keys[draw(keys.length)]!,
        ['~~~~~~', keys.at(-1)!][draw(2)]!,
      ].sort() as [string, string];
      const limit = 1 + draw(10);
      const ahead = 1 + draw(10);
      const wanted = keys.filter((key) => key >= start && key < end);
      const { entries, more } = await readRange(context, { start, end }, { limit, ahead });
      expect(entries.map(({ key }) => key)).toEqual(wanted.slice(0, limit));
      expect(more).toBe(Math.min(ahead, Math.max(0, wanted.length - limit)));
      expect(await countRange(context, { start, end })).toBe(wanted.length);
    }
  }
});
