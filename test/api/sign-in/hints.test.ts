import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { authorizationPath, redeem, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

describe.each(stores)('an id_token_hint at the authorization endpoint, on %s', (store) => {
  let service: TestService;
  let tab: Tab;
  let token: string;
  let ofOther: string;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
    await createClient(service, 'other');
    const address = 'ada@example.test';
    const begun = await signIn(service, address);
    ({ tab } = begun);
    token = (await redeem(service, begun)).body.id_token;
    const other = await signIn(service, address, { client: 'other' });
    ofOther = (await redeem(service, other)).body.id_token;
  });

  const hints: Record<string, () => string> = {
    nonsense: () => 'nonsense',
    'no token': () => 'a.b.c',
    'without a signature': () => `${token.split('.').slice(0, 2).join('.')}.`,
    'with another signature': () => `${token.slice(0, -8)}AAAAAAAA`,
    'of another Client': () => ofOther,
    'that is too long': () => `${token}${'a'.repeat(4_096)}`,
  };
  const authorize = async (at: Tab, hint: string, more: Record<string, string> = {}) => {
    const parameters = { id_token_hint: hint, ...more };
    const path = authorizationPath('app', 'openid email', 'v'.repeat(43), parameters);
    const { headers } = await at.navigate(path).is(303);
    return headers.location!;
  };
  const errorOf = (location: string) => new URL(location).searchParams.get('error');

  test.each(Object.keys(hints))(
    '%s is left out, and the log says so; with prompt=none it is login_required',
    async (kind) => {
      const hint = hints[kind]!();
      const before = service.logs.length;
      expect(new URL(await authorize(tab, hint)).searchParams.get('code')).toBeTruthy();
      expect(service.logs.slice(before).join('')).toContain('"parameters":["id_token_hint"]');
      expect(await authorize(service.tab(), hint)).toMatch(/^\/api\/v1beta1\/interactions\//);
      const silent = service.logs.length;
      expect(errorOf(await authorize(tab, hint, { prompt: 'none' }))).toBe('login_required');
      expect(service.logs.slice(silent).join('')).toContain('id_token_hint cannot be believed');
      const fields = new URL(
        authorizationPath('app', 'openid email', 'v'.repeat(43), { id_token_hint: hint }),
        service.baseURL,
      ).searchParams.toString();
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const options = { plain: true, body: fields, headers };
      await service.tab().send('POST', '/oauth2/par', options).is(201);
    },
  );

  test('of the person who is signed in goes on, and of someone else asks who it is', async () => {
    const none = { prompt: 'none' };
    expect(new URL(await authorize(tab, token, none)).searchParams.get('code')).toBeTruthy();
    const address = `p-${randomBytes(4).toString('hex')}@example.test`;
    const someone = await signIn(service, address);
    expect(errorOf(await authorize(someone.tab, token, none))).toBe('login_required');
    expect(await authorize(someone.tab, token)).toMatch(/^\/api\/v1beta1\/interactions\//);
  });
});
