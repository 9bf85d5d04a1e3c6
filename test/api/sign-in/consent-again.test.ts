import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from '../../../kinds/apps/client/client.js';
import { createAudience, createRequester, newPerson, pathFor } from '../../support/audiences.js';
import { authorizationPath, proceed, redeem } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const allScopes = {
  scopes: ['openid', 'email', 'profile', 'groups'].map((name) => ({
    name,
    required: name === 'openid',
  })),
};

describe.each(stores)('a second consent, on %s', (store) => {
  let service: TestService;
  let number = 0;
  const person = (): Promise<Tab> => newPerson(service, `a${(number += 1)}-${store}@example.test`);
  const verifier = 'v'.repeat(43);

  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
    await createClient(service, 'notes', allScopes);
  });

  const pathTo = (client: string, scope: string): string =>
    authorizationPath(client, scope, verifier, { prompt: 'consent' });

  /** Returns what a consent shows as agreed to before. */
  async function agreedBefore(tab: Tab, path: string): Promise<string[]> {
    const { headers } = await tab.navigate(path).is(303);
    const { body } = await tab.get(headers.location!).is(200);
    const found = body.status.consent.scopes.filter((scope: any) => scope.granted);
    await tab.delete(headers.location!).is(200);
    return found.map(({ name }: any) => name);
  }

  const grantOf = async (tab: Tab, client: string): Promise<any> =>
    (await tab.get('grants').is(200)).body.items.find(
      ({ status }: any) => status.client.name === client,
    );

  test('that names a scope twice is refused and decides nothing', async () => {
    const tab = await person();
    const { headers } = await tab.navigate(pathTo('notes', 'openid email')).is(303);
    const twice = { spec: { scopes: ['openid', 'email', 'email'] } };
    const { details } = await tab.post(`${headers.location!}/consent`, twice).fails(422, 'Invalid');
    expect(details!.causes).toEqual([
      expect.objectContaining({ field: 'spec.scopes[2]', reason: 'FieldValueDuplicate' }),
    ]);
    expect(await grantOf(tab, 'notes')).toBeUndefined();
    const once = { spec: { scopes: ['openid', 'email'] } };
    await tab.post(`${headers.location!}/consent`, once).is(200);
    const { status } = await grantOf(tab, 'notes');
    const scopes = (status.shareDecisions ?? []).map(({ scope }: any) => scope);
    expect(scopes).toEqual([...new Set(scopes)]);
  });

  async function recreate(client: string, spec: Parameters<typeof createClient>[2]): Promise<void> {
    await service.store.change(service.store.systemCall(), (tx) => tx.delete(Client, client));
    await createClient(service, client, spec);
  }

  const agree = (tab: Tab, scope: string, scopes: string[]): Promise<URL> =>
    proceed(tab, pathTo('notes', scope), scopes);

  const userinfo = (token: string) =>
    service.tab().get('/oauth2/userinfo', {
      plain: true,
      headers: { authorization: `Bearer ${token}` },
    });

  test.each([
    ['the same scopes', 'openid email profile', ['openid', 'email', 'profile']],
    ['one scope more', 'openid email profile groups', ['openid', 'email', 'profile', 'groups']],
    ['fewer scopes', 'openid email', ['openid', 'email']],
    ['another scope', 'openid groups', ['openid', 'groups']],
  ])('to %s leaves what was agreed to before, and is not asked again', async (_, scope, agreed) => {
    const tab = await person();
    await agree(tab, 'openid email profile', ['openid', 'email', 'profile']);
    await agree(tab, scope, agreed);
    const expected = new Set(['openid', 'email', 'profile', ...agreed]);
    expect(new Set((await grantOf(tab, 'notes')).spec.scopes)).toEqual(expected);
    const silent = authorizationPath('notes', 'openid email profile', verifier, { prompt: 'none' });
    const { headers } = await tab.navigate(silent).is(303);
    const callback = new URL(headers.location!);
    const { body } = await redeem(service, { callback, verifier, client: 'notes' });
    expect((await userinfo(body.access_token).is(200)).body).toHaveProperty('email');
    expect(new Set(await agreedBefore(tab, pathTo('notes', [...expected].join(' '))))).toEqual(
      expected,
    );
  });

  test('takes away what it leaves out, with the tokens', async () => {
    const tab = await person();
    const callback = await agree(tab, 'openid email profile', ['openid', 'email', 'profile']);
    const { body } = await redeem(service, { callback, verifier, client: 'notes' });
    await agree(tab, 'openid email', ['openid']);
    expect((await grantOf(tab, 'notes')).spec.scopes).toEqual(['openid', 'profile']);
    await userinfo(body.access_token).is(401);
    expect(await agreedBefore(tab, pathTo('notes', 'openid email profile'))).toEqual([
      'openid',
      'profile',
    ]);
  });

  test('shows nothing as agreed to that was for a former Client or Audience', async () => {
    await createAudience(service, 'stock');
    await createRequester(service, 'shop', ['stock']);
    const tab = await person();
    const wanted = { audiences: ['stock'], parameters: { prompt: 'consent' } };
    await proceed(tab, pathFor(wanted).path);
    expect(await agreedBefore(tab, pathFor(wanted).path)).toEqual(['openid', 'stock/read']);
    await service.store.change(service.store.systemCall(), (tx) => tx.delete(Client, 'shop'));
    await createRequester(service, 'shop', ['stock']);
    expect(await agreedBefore(tab, pathFor(wanted).path)).toEqual([]);
    await proceed(tab, pathFor({ parameters: { prompt: 'consent' } }).path, ['openid']);
    expect((await grantOf(tab, 'shop')).spec).toEqual({ scopes: ['openid'] });
    expect(await agreedBefore(tab, pathFor(wanted).path)).toEqual(['openid']);
  });

  test('shows as agreed to what a Client of one’s own has only while it is one', async () => {
    await createClient(service, 'till', { ...allScopes, firstParty: true });
    const tab = await person();
    await proceed(tab, authorizationPath('till', 'openid email', verifier));
    await recreate('till', allScopes);
    expect(await agreedBefore(tab, pathTo('till', 'openid email'))).toEqual([]);
  });
});
