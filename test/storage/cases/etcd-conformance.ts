import { afterAll, beforeAll, describe } from '@jest/globals';
import { openEtcd } from '../../../storage/etcd/etcd.js';
import { conformance } from '../conformance.js';
import { type EtcdServer, etcdVersion, startEtcd } from '../etcd-server.js';

/** The cases of every driver on etcd: on that of the tests, or on this binary. */
export function etcdConformance(binary?: string): void {
  describe(`etcd ${etcdVersion(binary)}`, () => {
    let server: EtcdServer;
    let stores = 0;
    beforeAll(async () => {
      server = await startEtcd([], 'http', binary);
    });
    afterAll(() => server.stop());

    conformance('the driver', async ({ sweeping } = {}) => {
      const storage = await openEtcd({
        servers: [server.endpoint],
        prefix: `/test${stores++}/`,
        dividedRangeKeys: 3,
        ...(sweeping && { leaseGraceMs: 0, leaseBucketMs: 500 }),
      });
      return { storage, disturb: () => server.restart(), close: () => storage.close() };
    });
  });
}
