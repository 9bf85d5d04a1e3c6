import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from '../../kinds/apps/client/client.js';
import { EncodedObject, encode, objectKey } from '../../registry/encoded-object.js';
import { viewIn } from '../../registry/versions/kind-view.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { openEtcd } from '../../storage/etcd/etcd.js';
import type { Storage } from '../../storage/storage.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { type Ran, vestibule } from '../support/command.js';
import { stopAll, temporary } from '../support/service.js';
import { stores } from '../support/stores.js';

afterAll(stopAll);

const record = 'meta/stored-versions';

describe.each(stores)('vestibule migrate on %s', (store) => {
  const directory = temporary();
  let etcd: EtcdServer | undefined;
  beforeAll(async () => {
    if (store === 'etcd') etcd = await startEtcd();
  });
  afterAll(() => etcd?.stop());
  const within = async <T>(work: (storage: Storage) => Promise<T>): Promise<T> => {
    const storage = etcd
      ? await openEtcd({ servers: [etcd.endpoint], prefix: '/vestibule/' })
      : await openEmbedded({ directory: join(directory, 'store') });
    try {
      return await work(storage);
    } finally {
      await storage.close();
    }
  };
  const migrate = (): Promise<Ran> =>
    vestibule(
      ['migrate', ...(etcd ? ['--etcd-servers', etcd.endpoint] : ['--data-dir', directory])],
      {},
    );
  const name = (i: number): string => `app-${i}`;

  test('writes the objects of an older release in the version of this one', async () => {
    const view = viewIn(Client, 'v1alpha1')!;
    await within(async (storage) => {
      for (let i = 0; i < 120; i += 1) {
        const spec = { displayName: name(i), privacyPolicyURI: `https://${name(i)}.example.test/` };
        const object = { metadata: { name: name(i) }, spec, status: { secrets: [] } };
        const value = encode(view, object as never);
        expect(value.toString()).toContain('"policyURI"');
        await storage.commit([], [{ put: objectKey(Client, name(i)), value }]);
      }
    });
    expect(await migrate()).toEqual({
      code: 0,
      out: '120 objects were rewritten; all are stored in v1beta1\n',
      error: '',
    });
    await within(async (storage) => {
      for (let i = 0; i < 120; i += 1) {
        const { entry } = await storage.get(objectKey(Client, name(i)));
        const object = new EncodedObject(Client, entry!);
        expect(object.storedVersion).toBe('v1beta1');
        expect(object.object.spec).toMatchObject({
          privacyPolicyURI: `https://${name(i)}.example.test/`,
        });
      }
      const { entry } = await storage.get(record);
      expect(JSON.parse(entry!.value.toString())).toEqual({
        written: 'v1beta1',
        present: ['v1beta1'],
      });
    });
    expect((await migrate()).out).toBe('0 objects were rewritten; all are stored in v1beta1\n');
  });

  test('refuses a store of a version that it does not read, and changes nothing', async () => {
    const value = Buffer.from('{"written":"v7","present":["v1beta1","v7"]}');
    await within((storage) => storage.commit([], [{ put: record, value }]));
    const { code, error } = await migrate();
    expect([code, error]).toEqual([
      1,
      expect.stringContaining(
        'the store has objects of version v7, and this release reads v1beta1',
      ),
    ]);
    const { entry } = await within((storage) => storage.get(record));
    expect(entry!.value).toEqual(value);
  });
});
