import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Audience } from '../../../kinds/apps/audience/audience.js';
import {
  ask,
  createAudience,
  createRequester,
  identifierOf,
  introspect,
  newPerson,
  offline,
  redeem,
  refresh,
  visit,
} from '../../support/audiences.js';
import { expectFor } from '../../support/expect-for.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const inactive = { active: false };

describe.each(stores)('introspection, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let number = 0;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    await createRequester(service, 'billing-api', []);
    await createAudience(service, 'billing');
    await createRequester(service, 'maps-api', []);
    await createAudience(service, 'maps', { accessTokenFormat: 'JWT' });
    await createRequester(service, 'shop', ['billing', 'maps']);
    await createRequester(service, 'shy', ['maps'], { subjectType: 'pairwise' });
    await createClient(service, 'public', {
      type: 'Public',
      tokenEndpointAuthMethod: 'none',
      audiences: ['billing'],
    });
    operator = (await signIn(service, 'op@example.test')).tab;
  });

  const person = (): Promise<Tab> => newPerson(service, `i${(number += 1)}-${store}@example.test`);
  /** Tokens of `shop` for offline use: its own, or for an Audience. */
  async function tokensOf(tab: Tab, audience?: string) {
    const wanted = audience
      ? { ...offline, audiences: [audience] }
      : { scope: 'openid offline_access', parameters: { prompt: 'consent' } };
    const back = await visit(tab, wanted);
    const { body } = await redeem(service, back, audience && identifierOf(audience));
    return body as { access_token: string; refresh_token: string };
  }

  const tokens: readonly (readonly [string, string | undefined, string, 'access' | 'refresh'])[] = [
    ['an access token of its own', undefined, 'shop', 'access'],
    ['a refresh token of its own', undefined, 'shop', 'refresh'],
    ['an access token for an Audience, by its Client', 'billing', 'shop', 'access'],
    ['an access token for an Audience, by the Audience', 'billing', 'billing-api', 'access'],
    ['a JWT for an Audience, by its Client', 'maps', 'shop', 'access'],
    ['a JWT for an Audience, by the Audience', 'maps', 'maps-api', 'access'],
  ];
  const ends: Record<string, (tab: Tab, name: string) => Promise<unknown>> = {
    disabled: (_tab, name) => operator.post(`accounts/${name}/disable`, { spec: {} }).is(200),
    'deleted by an operator': (_tab, name) => operator.delete(`accounts/${name}`).is(200),
    'deleted by the person': (tab) => tab.delete('accounts/~').is(200),
  };
  describe.each(Object.keys(ends))('of an account that is %s', (end) => {
    test.each(tokens)('answers nothing about %s', async (_, audience, client, kind) => {
      const tab = await person();
      const { name } = (await tab.get('accounts/~').is(200)).body.metadata;
      const issued = await tokensOf(tab, audience);
      const token = kind === 'access' ? issued.access_token : issued.refresh_token;
      expect(await introspect(service, client, token)).toMatchObject({ active: true });
      await ends[end]!(tab, name);
      expect(await introspect(service, client, token)).toEqual(inactive);
    });
  });

  test('a JWT is answered in full to its Audience, and no string is an error', async () => {
    const tab = await person();
    const { access_token: token, ...rest } = await tokensOf(tab, 'maps');
    const { name } = (await tab.get('accounts/~').is(200)).body.metadata;
    const claims = {
      active: true,
      iss: service.baseURL,
      sub: name,
      aud: identifierOf('maps'),
      client_id: 'shop',
      scope: 'read write',
      acr: 'urn:vestibule:acr:email',
      auth_time: expect.any(Number),
      iat: expect.any(Number),
      exp: expect.any(Number),
      token_type: 'Bearer',
    };
    expect(await introspect(service, 'maps-api', token)).toEqual(claims);
    const { body: grants } = await tab.get('grants').is(200);
    const grant = grants.items.find(({ status }: any) => status.client.name === 'shop');
    expect(grant.status.disclosures.flatMap((disclosure: any) => disclosure.claims)).toEqual(
      expect.arrayContaining(['sub', 'acr', 'auth_time']),
    );
    const [head, body, signature] = token.split('.') as [string, string, string];
    const encoded = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    const { id_token: idToken } = rest as unknown as { id_token: string };
    const others: [string, string][] = [
      ['billing-api', token],
      ['maps-api', `${head}.${encoded({ ...claims, scope: 'read write more' })}.${signature}`],
      ['maps-api', `${encoded({ alg: 'none', typ: 'at+jwt' })}.${body}.`],
      ['maps-api', idToken],
      ['shop', idToken],
      ['maps-api', 'a.b.c'],
      ['maps-api', `${encoded({ alg: 'ES256', kid: 'none' })}.${body}.${signature}`],
      ['maps-api', 'x'],
      ['maps-api', `${'y'.repeat(3_000)}`],
    ];
    for (const [client, sent] of others) {
      expectFor(client, await introspect(service, client, sent)).toEqual(inactive);
    }
    const back = await visit(tab, { client: 'shy', audiences: ['maps'] });
    const { body: shy } = await redeem(service, back, identifierOf('maps'));
    const answer = await introspect(service, 'maps-api', shy.access_token);
    expect(answer).toMatchObject({ active: true, client_id: 'shy' });
    expect(answer.sub).not.toBe(name);
  });

  test.each(['Opaque', 'JWT'] as const)(
    'has the consented claims that an Audience wants, and they are in the ledger: %s',
    async (accessTokenFormat) => {
      const name = `mail-${accessTokenFormat.toLowerCase()}`;
      await createRequester(service, `${name}-api`, []);
      const claims = ['email', 'groups', 'name', 'iss', 'sub', 'unheard_of'];
      const groups = `team-${accessTokenFormat.toLowerCase()}`;
      await createAudience(service, name, { accessTokenFormat, claims });
      const scopes = ['openid', 'email', 'profile', 'groups'].map((one) => ({
        name: one,
        required: false,
      }));
      await createRequester(service, `${name}-app`, [name], { scopes });
      const tab = await person();
      const { metadata, status } = (await tab.get('accounts/~').is(200)).body;
      await operator
        .post('groups', {
          metadata: { name: groups },
          spec: { displayName: groups, members: [status.email.address] },
        })
        .is(201);
      const answerTo = (token: string) => introspect(service, `${name}-api`, token);
      const tokenOf = async (agree?: string[], more = ''): Promise<string> => {
        const scope = `openid email profile read${more}`;
        const client = `${name}-app`;
        const wanted = { client, scope, audiences: [name], parameters: { prompt: 'consent' } };
        const back = await visit(tab, { ...wanted, ...(agree && { agree }) });
        const { body } = await redeem(service, back, identifierOf(name));
        return body.access_token;
      };
      const before = await tokenOf();
      const full = await answerTo(before);
      expect(full).toMatchObject({
        active: true,
        iss: service.baseURL,
        sub: metadata.name,
        email: status.email.address,
        name: status.email.address.split('@')[0],
      });
      expect(full).not.toHaveProperty('groups'); // not requested
      expect(full).not.toHaveProperty('email_verified'); // not wanted
      const withGroups = await tokenOf(undefined, ' groups');
      expect((await answerTo(withGroups)).groups).toEqual([groups]);
      if (accessTokenFormat === 'JWT') {
        expect(
          JSON.parse(Buffer.from(withGroups.split('.')[1]!, 'base64url').toString()),
        ).toMatchObject({ email: status.email.address, groups: [groups] });
      }
      const { body: grants } = await tab.get('grants').is(200);
      const grant = grants.items.find(({ status: of }: any) => of.client.name === `${name}-app`);
      const disclosed = grant.status.disclosures.flatMap((disclosure: any) =>
        disclosure.claims.map((claim: string) => `${disclosure.scope} ${claim}`),
      );
      expect(disclosed).toEqual(
        expect.arrayContaining(['email email', 'profile name', 'groups groups', 'openid sub']),
      );
      const after = await tokenOf(['openid', 'profile', `${name}/read`]);
      for (const token of accessTokenFormat === 'JWT' ? [before, after] : [after]) {
        const answer = await answerTo(token);
        expect(answer).toMatchObject({ active: true, iss: service.baseURL, sub: metadata.name });
        expect(answer).not.toHaveProperty('email');
      }
    },
  );

  test('a Public Client learns nothing of any token, its own neither', async () => {
    const tab = await person();
    const back = await visit(tab, {
      client: 'public',
      scope: 'openid read',
      audiences: ['billing'],
    });
    const send = (path: string, values: Record<string, string>) =>
      service.tab().send('POST', path, {
        plain: true,
        body: new URLSearchParams({ client_id: 'public', ...values }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    const { body } = await send('/oauth2/token', {
      grant_type: 'authorization_code',
      code: back.callback.searchParams.get('code')!,
      redirect_uri: 'https://app.example.test/callback',
      code_verifier: back.verifier,
    });
    expect(await introspect(service, 'billing-api', body.access_token)).toMatchObject({
      active: true,
    });
    const answer = await send('/oauth2/introspect', { token: body.access_token });
    expect(answer.body.active ?? false).toBe(false);
    expect(answer.bytes.toString()).not.toContain('"sub"');
  });

  test('a scope that the Audience dropped is in no token, new or old', async () => {
    await createAudience(service, 'short', { introspectors: ['billing-api'] });
    await createRequester(service, 'reader', ['short']);
    const back = await visit(await person(), {
      ...offline,
      client: 'reader',
      audiences: ['short'],
    });
    const { body: first } = await redeem(service, back);
    expect(first.scope.split(' ')).toEqual(expect.arrayContaining(['read', 'write']));
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Audience, 'short', ({ spec }) => {
        spec.scopes = spec.scopes.filter(({ name }) => name === 'read');
      }),
    );
    expect(await introspect(service, 'billing-api', first.access_token)).toEqual(inactive);
    const { body: second } = await refresh(service, 'reader', first.refresh_token);
    expect(second.scope.split(' ')).not.toContain('write');
    expect(await introspect(service, 'billing-api', second.access_token)).toMatchObject({
      scope: 'read',
    });
  });

  test.each([
    ['longer', '24h', 300],
    ['shorter', '2m', 120],
  ])(
    'a %s lifetime of the Client does not lengthen that of the Audience',
    async (_, own, lasts) => {
      const name = `lasting${lasts}`;
      await createAudience(service, name, { accessTokenLifetime: '5m' });
      await createRequester(service, `${name}-app`, [name], { lifetimes: { accessToken: own } });
      const back = await visit(await person(), {
        client: `${name}-app`,
        scope: 'openid read',
        audiences: [name],
      });
      expect((await redeem(service, back)).body.expires_in).toBe(lasts);
    },
  );

  test('an unknown token is inactive', async () => {
    const { body } = await ask(service, '/oauth2/introspect', 'shop', { token: 'unknown' });
    expect(body).toEqual(inactive);
  });
});
