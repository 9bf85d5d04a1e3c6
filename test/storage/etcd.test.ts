import { afterAll, beforeAll } from '@jest/globals';
import { openEtcd } from '../../storage/etcd/etcd.js';
import { conformance } from './conformance.js';
import { startEtcd, type EtcdServer } from './etcd-server.js';

let server: EtcdServer;
let stores = 0;

beforeAll(async () => {
  server = await startEtcd();
  process.stdout.write(`etcd ${server.version}\n`);
});
afterAll(() => server.stop());

conformance('etcd', async ({ sweeping } = {}) => {
  const storage = await openEtcd({
    servers: [server.endpoint],
    prefix: `/test${stores++}/`,
    dividedRangeKeys: 3,
    ...(sweeping && { leaseGraceMs: 0, leaseBucketMs: 500 }),
  });
  return { storage, disturb: () => server.restart(), close: () => storage.close() };
});
