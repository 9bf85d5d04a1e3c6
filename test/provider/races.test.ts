import { openEtcd } from '../../storage/etcd/etcd.js';
import { startEtcd } from '../storage/etcd-server.js';
import { scaled } from '../support/patience.js';
import { openStorage } from './support/fixture.js';
import { races } from './support/races.js';

races('embedded', async () => {
  const kept = await openStorage();
  return { storages: [kept.storage, kept.storage], close: () => kept.close() };
});

races('etcd', async () => {
  const server = await startEtcd();
  const connect = () =>
    openEtcd({ servers: [server.endpoint], prefix: '/races/', requestTimeoutMs: scaled(2500) });
  const storages: [Awaited<ReturnType<typeof connect>>, Awaited<ReturnType<typeof connect>>] = [
    await connect(),
    await connect(),
  ];
  return {
    storages,
    close: async () => {
      for (const storage of storages) await storage.close();
      await server.stop();
    },
  };
});
