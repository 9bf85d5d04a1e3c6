import { openEtcd } from '../../storage/etcd/etcd.js';
import { startEtcd } from '../storage/etcd-server.js';
import { scaled } from '../support/patience.js';
import { adapterCases } from './support/adapter.js';
import { openStorage } from './support/fixture.js';

adapterCases('embedded', openStorage);

adapterCases('etcd', async () => {
  const server = await startEtcd();
  const storage = await openEtcd({
    servers: [server.endpoint],
    prefix: '/adapter/',
    requestTimeoutMs: scaled(2500),
  });
  return {
    storage,
    close: async () => {
      await storage.close();
      await server.stop();
    },
  };
});
