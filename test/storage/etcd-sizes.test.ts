import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type EtcdStorage, openEtcd } from '../../storage/etcd/etcd.js';
import { parseVersion } from '../../storage/etcd/version.js';
import { UnavailableError } from '../../storage/storage.js';
import { Scrape } from '../support/network/scrape.js';
import { scaled, settles } from '../support/patience.js';
import { exchange } from '../support/people/tab.js';
import { type EtcdServer, freePorts, startEtcd } from './etcd-server.js';

const quota = 64 << 20;
let etcd: EtcdServer;
let storage: EtcdStorage;

beforeAll(async () => {
  etcd = await startEtcd([`--quota-backend-bytes=${quota}`]);
  const [nowhere] = await freePorts(1);
  storage = await openEtcd({
    servers: [`http://127.0.0.1:${nowhere}`, etcd.endpoint],
    prefix: '/sized/',
    requestTimeoutMs: scaled(2500),
  });
});
afterAll(async () => {
  await storage?.close();
  await etcd?.stop();
});

test('each member that answers says how large it is', async () => {
  const before = await storage.sizes!();
  expect([...before.keys()]).toEqual(['etcd-1']); // nothing listens at the first address
  for (let i = 0; i < 40; i += 1) {
    await storage.commit([], [{ put: `big/${i}`, value: Buffer.alloc(200_000, i) }]);
  }
  const seen = async () => ({
    ...(await storage.sizes!()).get('etcd-1')!,
    own: new Scrape((await exchange(etcd.metricsUrl, 'GET', '/metrics', {})).bytes.toString()).sum(
      'etcd_mvcc_db_total_size_in_bytes',
    ),
  });
  const {
    bytes,
    inUse,
    quota: reported,
  } = await settles(seen, (one) => one.bytes > 8_000_000 && one.bytes === one.own); // what was acknowledged is in the file a moment later
  expect(inUse).toBeGreaterThan(before.get('etcd-1')!.inUse);
  expect(inUse).toBeLessThanOrEqual(bytes);
  const [major, minor] = parseVersion(etcd.version);
  expect(reported).toBe(major > 3 || minor >= 6 ? quota : undefined);
});

test('where none answers, that is said', async () => {
  await etcd.kill();
  await expect(storage.sizes!()).rejects.toThrow(UnavailableError);
});
