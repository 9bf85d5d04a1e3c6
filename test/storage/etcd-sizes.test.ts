import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openEtcd, type EtcdStorage } from '../../storage/etcd/etcd.js';
import { parseVersion } from '../../storage/etcd/version.js';
import { Unavailable } from '../../storage/storage.js';
import { scrape } from '../support/scrape.js';
import { freePorts, startEtcd, type EtcdServer } from './etcd-server.js';

const quota = 64 << 20;
let etcd: EtcdServer;
let storage: EtcdStorage;

beforeAll(async () => {
  etcd = await startEtcd([`--quota-backend-bytes=${quota}`]);
  const [nowhere] = await freePorts(1);
  storage = await openEtcd({ servers: [`http://127.0.0.1:${nowhere}`, etcd.endpoint], prefix: '/sized/' });
});
afterAll(async () => { await storage?.close(); await etcd?.stop() });

test('each member that answers says how large it is, as its own metrics do, and from 3.6 on its quota', async () => {
  const before = await storage.sizes!();
  expect([...before.keys()]).toEqual(['etcd-1']);   // nobody is at the first address
  for (let i = 0; i < 40; i += 1) await storage.commit([], [{ put: `big/${i}`, value: Buffer.alloc(200_000, i) }]);
  const { bytes, inUse, quota: told } = (await storage.sizes!()).get('etcd-1')!;
  expect(bytes).toBeGreaterThan(8_000_000);
  expect(inUse).toBeGreaterThan(before.get('etcd-1')!.inUse);
  expect(inUse).toBeLessThanOrEqual(bytes);
  expect(bytes).toBe((await scrape(etcd.metricsUrl)).sum('etcd_mvcc_db_total_size_in_bytes'));
  const [major, minor] = parseVersion(etcd.version);
  expect(told).toBe(major > 3 || minor >= 6 ? quota : undefined);
});

test('where none answers, that is said', async () => {
  await etcd.kill();
  await expect(storage.sizes!()).rejects.toThrow(Unavailable);
});
