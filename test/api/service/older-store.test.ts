import { isDeepStrictEqual } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { Client } from '../../../kinds/apps/client/client.js';
import { encode } from '../../../registry/encoded-object.js';
import { viewIn } from '../../../registry/versions/kind-view.js';
import { settles } from '../../support/patience.js';
import { signIn } from '../../support/people/signin.js';
import { createClient, startTest, stopAll } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const record = 'meta/stored-versions';

test.each(stores)('a service takes over the objects of an older release, on %s', async (store) => {
  const former = await startTest({ store, flags: ['--operators', 'op@example.test'] });
  const { storage } = former;
  const privacyPolicyURI = 'https://app.example.test/privacy';
  await createClient(former, 'app', { privacyPolicyURI });
  const { entry } = (await former.store.stored(Client, 'app'))!;
  const object = (await former.store.stored(Client, 'app'))!.parse();
  const value = encode(viewIn(Client, 'v1alpha1')!, object);
  await storage.commit([], [{ put: entry.key, value }, { delete: record }]);

  const service = await former.replica();
  const uniform = { written: 'v1beta1', present: ['v1beta1'] };
  await settles(
    async () => JSON.parse((await storage.get(record)).entry!.value.toString()) as unknown,
    (versions) => isDeepStrictEqual(versions, uniform),
  );
  const stored = (await service.store.stored(Client, 'app'))!;
  expect(stored.storedVersion).toBe('v1beta1');
  const { tab } = await signIn(service, 'op@example.test', { scope: 'openid' });
  const old = (await tab.get('/api/v1alpha1/clients/app').is(200)).body;
  const now = (await tab.get('/api/v1beta1/clients/app').is(200)).body;
  expect([old.spec.policyURI, now.spec.privacyPolicyURI]).toEqual([
    privacyPolicyURI,
    privacyPolicyURI,
  ]);
  const logs = [...former.logs, ...service.logs].join('');
  expect(logs).toContain('stored objects were rewritten in the newer version');
});
