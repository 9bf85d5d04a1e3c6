import { afterAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { begin, mailTo, redeem, signIn } from '../../support/people/signin.js';
import { createClient, startTest, stopAll } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const names = (claims: any) => [claims.name, claims.preferred_username];

describe.each(stores)('the name of a person who filled in none, on %s', (store) => {
  test.each<[flags: string[], scope: string, agree: string[] | undefined, expected: unknown[]]>([
    [[], 'openid email profile', undefined, ['ada.l+app', 'ada.l+app']],
    [[], 'openid profile', undefined, [undefined, undefined]],
    [[], 'openid email profile', ['openid', 'profile'], [undefined, undefined]],
    [[], 'openid email', undefined, [undefined, undefined]],
    [
      ['--name-fallback', 'Email'],
      'openid email profile',
      undefined,
      ['ada.l+app@example.test', 'ada.l+app@example.test'],
    ],
    [['--name-fallback', 'Absent'], 'openid email profile', undefined, [undefined, undefined]],
  ])('%j, for %s, agreed to %j', async (flags, scope, agree, expected) => {
    const service = await startTest({ store, flags });
    const scopes = scope.split(' ').map((name) => ({ name, required: false }));
    await createClient(service, 'app', { scopes });
    const address = 'ada.l+app@example.test';
    const begun = await begin(service, { scope });
    const { tab, I } = begun;
    await tab.post(`${I}/emailchallenge`, { spec: { email: address } }).is(200);
    const { code } = await mailTo(service, address);
    const login = { spec: { method: 'EmailCode', code } };
    const { returnTo } = (await tab.post(`${I}/login`, login).is(200)).body.status;
    const to = (await tab.navigate(returnTo).is(303)).headers.location!;
    const { consent } = (await tab.get(to).is(200)).body.status;
    const shown = Object.fromEntries(
      consent.scopes
        .flatMap(({ preview = [] }: any) => preview)
        .map(({ claim, value }: any) => [claim, value]),
    );
    // What would be sent if all was agreed to, and what of it if the address is not.
    if (!agree) expect(names(shown)).toEqual(expected);
    const dependent = consent.scopes.flatMap(({ preview }: any) =>
      preview.filter(({ withScope }: any) => withScope === 'email').map(({ claim }: any) => claim),
    );
    expect(dependent).toEqual(shown.name === undefined ? [] : ['name', 'preferred_username']);
    const decided = { spec: { scopes: agree ?? scope.split(' ') } };
    const done = (await tab.post(`${to}/consent`, decided).is(200)).body.status.returnTo;
    const callback = new URL((await tab.navigate(done).is(303)).headers.location!);
    const { body: tokens } = await redeem(service, { ...begun, callback });
    expect(names(decodeJwt(tokens.id_token))).toEqual(expected);
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    const userinfo = await service.tab().get('/oauth2/userinfo', { plain: true, headers }).is(200);
    expect(names(userinfo.body)).toEqual(expected);
    await tab
      .patch('accounts/~', { spec: { displayName: 'Ada', preferredUsername: 'ada' } })
      .is(200);
    const again = await service.tab().get('/oauth2/userinfo', { plain: true, headers }).is(200);
    const has = (agree ?? scope.split(' ')).includes('profile');
    expect(names(again.body)).toEqual(has ? ['Ada', 'ada'] : [undefined, undefined]);
  });

  test('is in the ledger like a name that they filled in', async () => {
    const service = await startTest({ store });
    await createClient(service, 'app');
    const scope = 'openid email profile';
    const signedIn = await signIn(service, 'grace@example.test', { scope });
    await redeem(service, signedIn);
    const { items } = (await signedIn.tab.get('grants').is(200)).body;
    const { disclosures } = items.find(({ status }: any) => status.client.name === 'app').status;
    const ofProfile = disclosures.filter((disclosure: any) => disclosure.scope === 'profile');
    expect(ofProfile.flatMap(({ claims }: any) => claims)).toEqual(
      expect.arrayContaining(['name', 'preferred_username']),
    );
  });

  test.each([
    ['requires profile', true, 'openid email profile', ['displayName']],
    ['may leave profile out', false, 'openid email profile', undefined],
    ['does not ask for profile', true, 'openid email', undefined],
  ])('is required at setup if the app %s', async (_, required, scope, expected) => {
    const service = await startTest({ store });
    const scopes = ['openid', 'email', 'profile'].map((name) => ({ name, required }));
    await createClient(service, 'app', { scopes });
    const { tab, I } = await begin(service, { scope });
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'new@example.test' } }).is(200);
    const { code } = await mailTo(service, 'new@example.test');
    const { body } = await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
    expect(body.status.account.setup.required).toEqual(expected);
    expect((await tab.get(I).is(200)).body.status.account.setup.required).toEqual(expected);
    await tab.patch(`${I}/account`, { spec: { displayName: 'Ada' } }).is(200);
    expect((await tab.get(I).is(200)).body.status.account.setup).not.toHaveProperty('required');
  });
});
