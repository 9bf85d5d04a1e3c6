import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type EtcdServer, freePorts, startEtcd } from '../storage/etcd-server.js';
import { stopAll, temporary } from '../support/service.js';
import { stores } from '../support/stores.js';
import { features, hasFeature, Kinds } from './wardle/features.js';
import { end, ownWay, type Started } from './wardle/way.js';

const [port] = await freePorts(1);

afterAll(stopAll);

describe.each(stores)('the kinds of sample-apiserver by this core, on %s', (store) => {
  let etcd: EtcdServer | undefined;
  let started: Started | undefined;
  const way = ownWay(`This core, ${store}`, port!, () =>
    etcd ? { ETCD_SERVERS: etcd.endpoint } : { DATA_DIR: temporary() },
  );
  const kinds = new Kinds(way);

  beforeAll(async () => {
    if (store === 'etcd') etcd = await startEtcd();
    started = await way.start();
  });
  afterAll(async () => {
    if (started) await end(started);
    await etcd?.stop();
  });

  test.each(features)('%s', async (feature, has) => {
    expect(await has(kinds)).toBe(hasFeature(way, feature));
  });
});
