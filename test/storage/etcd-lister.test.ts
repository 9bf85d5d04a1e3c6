import { expect, test } from '@jest/globals';
import type { Cluster } from '../../storage/etcd/client.js';
import { Keyspace } from '../../storage/etcd/key-prefix.js';
import { readRange } from '../../storage/etcd/lister.js';

/** An etcd with `count` keys, which answers no request for more than `most` of them in time. */
function slow(count: number, max: number): { cluster: Cluster; asked: number[] } {
  const asked: number[] = [];
  const keys = Array.from({ length: count }, (_, i) => `/v/k${String(i).padStart(4, '0')}`);
  const range = async ({ key, limit }: { key: Buffer; limit: number }): Promise<unknown> => {
    asked.push(limit);
    if (limit > max) throw new Error('4 DEADLINE_EXCEEDED');
    const rest = keys.filter((one) => one >= key.toString());
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
    for (;;)
      try {
        return await send({ kv: { range } } as never, { deadline: 0 });
      } catch {
        /* and again, as the cluster does */
      }
  };
  return { cluster: { read } as unknown as Cluster, asked };
}

test('a page that does not come in time is asked for again by halves, and all of the range comes', async () => {
  const { cluster, asked } = slow(60, 30);
  const keyspace = new Keyspace('/v/', 0);
  const { entries, more } = await readRange(
    { cluster, keyspace, findOldest: async () => 1 },
    { start: 'k', end: 'l' },
    {},
  );
  expect([entries.length, new Set(entries.map(({ key }) => key)).size, more]).toEqual([60, 60, 0]);
  expect(asked.slice(0, 3)).toEqual([100, 50, 25]);
});
