import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { Audience } from '../../../kinds/apps/audience/audience.js';
import { Client } from '../../../kinds/apps/client/client.js';
import {
  ask,
  createAudience,
  createRequester,
  identifierOf,
  introspect,
  newPerson,
  offline,
  pathFor,
  redeem,
  refresh,
  visit,
} from '../../support/audiences.js';
import { expectFor } from '../../support/expect-for.js';
import { settles } from '../../support/patience.js';
import { confirm } from '../../support/people/device.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const inactive = { active: false };
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code' as const;

describe.each(stores)('access tokens for an Audience, on %s', (store) => {
  let service: TestService;
  let replica: TestService;
  let operator: Tab;
  let number = 0;
  const person = (): Promise<Tab> => newPerson(service, `a${(number += 1)}-${store}@example.test`);

  beforeAll(async () => {
    service = await startTest({
      store,
      quickDecisions: true,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test', '--device-authorization'],
    });
    replica = await service.replica();
    await createClient(service, 'app');
    for (const name of ['billing-api', 'stock-api', 'vault-api', 'stranger']) {
      await createRequester(service, name, []);
    }
    for (const name of ['billing', 'stock', 'vault']) await createAudience(service, name);
    await createAudience(service, 'maps', { accessTokenFormat: 'JWT', accessTokenLifetime: '2m' });
    await createRequester(service, 'shop', ['billing', 'stock', 'maps', 'gone']);
    operator = (await signIn(service, 'op@example.test')).tab;
  });

  /** A new person's tokens for one Audience. */
  async function tokensFor(audience: string, wanted: Parameters<typeof visit>[1] = offline) {
    const tab = await person();
    const back = await visit(tab, { ...wanted, audiences: [audience] });
    const { body } = await redeem(service, back, identifierOf(audience));
    return { tab, ...(body as { access_token: string; refresh_token: string; scope: string }) };
  }

  test.each(['billing', 'maps'])(
    'of a Confidential Client are renewed beyond their lifetime: %s',
    async (audience) => {
      const { refresh_token: token } = await tokensFor(audience, {
        scope: 'openid read offline_access',
      });
      const { body } = await refresh(service, 'shop', token, { resource: identifierOf(audience) });
      expect(body).toMatchObject({ scope: 'read', refresh_token: expect.any(String) });
      expect(await introspect(service, 'shop', body.access_token)).toMatchObject({
        active: true,
        aud: identifierOf(audience),
      });
    },
  );

  test('have its scopes, aud and lifetime, and are introspected by it', async () => {
    const tokens = await tokensFor('billing');
    expect(tokens).toMatchObject({ scope: 'read write', expires_in: 300, token_type: 'Bearer' });
    for (const [at, client] of [
      [service, 'shop'],
      [service, 'billing-api'],
      [replica, 'billing-api'],
    ] as const) {
      expect(await introspect(at, client, tokens.access_token)).toMatchObject({
        active: true,
        aud: identifierOf('billing'),
        client_id: 'shop',
        iss: service.baseURL,
        scope: 'read write',
        sub: expect.any(String),
        acr: 'urn:vestibule:acr:email',
        auth_time: expect.any(Number),
      });
    }
    expect(await introspect(service, 'billing-api', tokens.refresh_token)).toEqual(inactive);
  });

  test('are of no use elsewhere: at another Audience, at userinfo, at this API', async () => {
    const tokens = [await tokensFor('billing'), await tokensFor('maps')];
    for (const client of ['stock-api', 'vault-api', 'stranger']) {
      expect(await introspect(service, client, tokens[0]!.access_token)).toEqual(inactive);
    }
    for (const { access_token: token } of tokens) {
      const headers = { authorization: `Bearer ${token}` };
      const userinfo = await service.tab().get('/oauth2/userinfo', { plain: true, headers });
      expect([401, 403]).toContain(userinfo.code);
      expect(userinfo.body.sub).toBeUndefined();
      await service.tab().get('accounts/~', { plain: true, headers }).fails(401, 'Unauthorized');
    }
  });

  test('are refused for what the Client may not use, whether it exists or not', async () => {
    const { host } = new URL(service.baseURL);
    const descriptions = new Set<string | null>();
    for (const resource of [
      'https://unknown.example.test',
      identifierOf('vault'),
      identifierOf('gone'),
      `${identifierOf('billing')}/`,
      identifierOf('billing').toUpperCase(),
      service.baseURL,
      `${service.baseURL}/apis`,
      `${service.baseURL}/apis/`,
      `${service.baseURL}/%61pis`,
      `http://${host.toUpperCase()}/apis`,
    ]) {
      const { path } = pathFor({ resources: [resource] });
      const back = new URL((await operator.navigate(path).is(303)).headers.location!);
      expectFor(resource, back.searchParams.get('error')).toEqual('invalid_target');
      descriptions.add(back.searchParams.get('error_description'));
    }
    expect(descriptions.size).toBe(1);
    const pushed = await ask(service, '/oauth2/par', 'shop', {
      client_id: 'shop',
      response_type: 'code',
      redirect_uri: 'https://app.example.test/callback',
      scope: 'openid read',
      resource: identifierOf('vault'),
      code_challenge: 'A'.repeat(43),
      code_challenge_method: 'S256',
    });
    expect([pushed.code, pushed.body.error]).toEqual([400, 'invalid_target']);
  });

  test('need a scope of each resource', async () => {
    const { path } = pathFor({ scope: 'openid email', audiences: ['billing'] });
    const back = new URL((await (await person()).navigate(path).is(303)).headers.location!);
    expect(back.searchParams.get('error')).toBe('invalid_scope');
    const tokens = await tokensFor('billing');
    const narrowed = await refresh(service, 'shop', tokens.refresh_token, { scope: 'openid' });
    expect([narrowed.code, narrowed.body.error]).toEqual([400, 'invalid_target']);
  });

  test('of a code for two resources are for the one that the request names', async () => {
    const tab = await person();
    const back = await visit(tab, { ...offline, audiences: ['billing', 'stock'] });
    for (const resource of [undefined, identifierOf('maps'), identifierOf('vault')]) {
      const { code, body } = await redeem(service, back, resource);
      expect([code, body.error]).toEqual([400, 'invalid_target']);
    }
    const both = await ask(service, '/oauth2/token', 'shop', [
      ['grant_type', 'authorization_code'],
      ['code', back.callback.searchParams.get('code')!],
      ['redirect_uri', 'https://app.example.test/callback'],
      ['code_verifier', back.verifier],
      ['resource', identifierOf('billing')],
      ['resource', identifierOf('stock')],
    ]);
    expect([both.code, both.body.error]).toEqual([400, 'invalid_target']);
    const { body: first } = await redeem(service, back, identifierOf('billing'));
    expect(await introspect(service, 'billing-api', first.access_token)).toMatchObject({
      active: true,
      aud: identifierOf('billing'),
    });
    expect(await introspect(service, 'stock-api', first.access_token)).toEqual(inactive);
    const { body: second } = await refresh(service, 'shop', first.refresh_token, {
      resource: identifierOf('stock'),
    });
    expect(await introspect(service, 'stock-api', second.access_token)).toMatchObject({
      aud: identifierOf('stock'),
    });
    expect(await introspect(service, 'billing-api', second.access_token)).toEqual(inactive);
  });

  test('come by refresh for what the code was for, never for another Audience', async () => {
    const tokens = await tokensFor('billing');
    for (const resource of [
      identifierOf('stock'),
      identifierOf('vault'),
      `${service.baseURL}/apis`,
    ]) {
      const { code, body } = await refresh(service, 'shop', tokens.refresh_token, { resource });
      expectFor(resource, [code, body.error]).toEqual([400, 'invalid_target']);
    }
    const { body } = await refresh(service, 'shop', tokens.refresh_token);
    expect(await introspect(service, 'billing-api', body.access_token)).toMatchObject({
      active: true,
      scope: 'read write',
    });
    const plain = await visit(await person(), {
      scope: 'openid offline_access',
      parameters: { prompt: 'consent' },
    });
    const { body: own } = await redeem(service, plain);
    const widened = await refresh(service, 'shop', own.refresh_token, {
      resource: identifierOf('billing'),
    });
    expect([widened.code, widened.body.error]).toEqual([400, 'invalid_target']);
  });

  test('in the form JWT have the claims of RFC 9068, as an introspection has', async () => {
    const { access_token: token } = await tokensFor('maps');
    expect(decodeProtectedHeader(token)).toEqual({
      alg: 'ES256',
      typ: 'at+jwt',
      kid: expect.any(String),
    });
    const claims = decodeJwt(token);
    expect(claims).toEqual({
      iss: service.baseURL,
      aud: identifierOf('maps'),
      sub: expect.any(String),
      client_id: 'shop',
      jti: expect.any(String),
      scope: 'read write',
      iat: expect.any(Number),
      exp: claims.iat! + 120,
      acr: 'urn:vestibule:acr:email',
      auth_time: expect.any(Number),
    });
    const { code, body } = await ask(service, '/oauth2/introspect', 'shop', { token });
    expect([code, body]).toMatchObject([200, { active: true, sub: claims.sub }]);
  });

  test('come by the device flow, too, whose page says what they permit', async () => {
    await createRequester(service, 'courier', ['billing'], {
      grantTypes: [deviceGrant, 'refresh_token'],
      redirectURIs: [],
    });
    const start = (audience: string) =>
      ask(service, '/oauth2/device/auth', 'courier', {
        client_id: 'courier',
        scope: 'openid write',
        resource: identifierOf(audience),
      });
    expect((await start('stock')).body.error).toBe('invalid_target');
    const { body: started } = await start('billing');
    const tab = await person();
    const { pathname, search } = new URL(started.verification_uri_complete);
    const page = await tab.navigate(`${pathname}${search}`).is(200);
    expect(page.bytes.toString()).toContain('user_code');
    await confirm(tab, started.verification_uri_complete);
    const { body } = await ask(service, '/oauth2/token', 'courier', {
      grant_type: deviceGrant,
      device_code: started.device_code,
    });
    expect(await introspect(service, 'billing-api', body.access_token)).toMatchObject({
      active: true,
      client_id: 'courier',
      scope: 'write',
    });
  });

  const endings: readonly (readonly [
    string,
    (tab: Tab, tokens: { access_token: string }) => Promise<unknown>,
  ])[] = [
    [
      'the token is revoked',
      (_tab, { access_token: token }) => ask(service, '/oauth2/revoke', 'shop', { token }),
    ],
    [
      'the grant is deleted',
      async (tab) => {
        const { body } = await tab.get('grants').is(200);
        const name = body.items.find((item: any) => item.status.client.name === 'shop').metadata
          .name;
        await tab.delete(`grants/${name}`).is(200);
      },
    ],
    [
      'the account is disabled',
      async (tab) => {
        const { body } = await tab.get('accounts/~').is(200);
        await operator.post(`accounts/${body.metadata.name}/disable`, { spec: {} }).is(200);
      },
    ],
  ];
  test.each(endings)('are inactive on every replica when %s', async (_, end) => {
    const tokens = await tokensFor('billing');
    await introspectActive(tokens.access_token);
    await end(tokens.tab, tokens);
    await seenInactive(tokens.access_token);
  });

  test('are inactive on every replica when the session ends, unless for offline use', async () => {
    const tokens = await tokensFor('billing', {});
    await introspectActive(tokens.access_token);
    await tokens.tab.delete('sessions/~').is(200);
    await seenInactive(tokens.access_token);
  });

  const introspectActive = async (token: string): Promise<void> => {
    for (const at of [service, replica]) {
      expect(await introspect(at, 'billing-api', token)).toMatchObject({ active: true });
    }
  };
  const seenInactive = async (token: string, client = 'billing-api'): Promise<void> => {
    for (const at of [service, replica]) {
      await settles(
        () => introspect(at, client, token),
        (answer: { active: boolean }) => !answer.active,
      );
    }
  };

  test('are inactive when the Client loses the Audience or it is deleted', async () => {
    await createRequester(service, 'brief-api', []);
    await createAudience(service, 'brief', { introspectors: ['brief-api'] });
    await createRequester(service, 'reader', ['brief', 'billing']);
    const back = await visit(await person(), {
      ...offline,
      client: 'reader',
      audiences: ['brief'],
    });
    const { body: tokens } = await redeem(service, back);
    const setAudiences = (audiences: string[]) =>
      service.store.change(service.store.systemCall(), (tx) =>
        tx.update(Client, 'reader', ({ spec }) => {
          spec.audiences = audiences;
        }),
      );
    const refreshed = async () => (await refresh(service, 'reader', tokens.refresh_token)).body;
    expect(await introspect(service, 'brief-api', tokens.access_token)).toMatchObject({
      aud: identifierOf('brief'),
    });
    await setAudiences(['billing']);
    await seenInactive(tokens.access_token, 'brief-api');
    expect(await refreshed()).toMatchObject({ error: 'invalid_target' });
    await setAudiences(['billing', 'brief']);
    expect(await refreshed()).toMatchObject({ scope: 'read write' });
    await operator.delete('audiences/brief').is(200);
    await seenInactive(tokens.access_token, 'brief-api');
    expect(await refreshed()).toMatchObject({ error: 'invalid_target' });
    await createAudience(service, 'brief', { introspectors: ['brief-api'] });
    await seenInactive(tokens.access_token, 'brief-api');
    expect(await refreshed()).toMatchObject({ error: 'invalid_target' });
  });
});

describe.each(stores)('an Audience, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
  });

  const draft = (name: string, identifier: string) => ({
    metadata: { name },
    spec: {
      identifier,
      displayName: name,
      scopes: [{ name: 'read', title: 'Read', description: 'Read.' }],
    },
  });

  test('has an absolute URI in one form as its identifier, none of this service', async () => {
    const { host } = new URL(service.baseURL);
    for (const identifier of [
      '',
      'billing',
      'http://billing.example.test/',
      'api://billing',
      'ftp://billing.example.test/',
      'javascript:billing',
      'urn:billing',
      '//billing.example.test',
      'https://billing.example.test/#part',
      'https://billing.example.test/a b',
      'https://user@billing.example.test',
      'https://BILLING.example.test',
      'https://billing.example.test:443/',
      'https://billing.example.test/a/../b',
      service.baseURL,
      `${service.baseURL}/apis`,
      `${service.baseURL}/apis/`,
      `${service.baseURL}/%61pis`,
      `https://${host}/apis`,
      `api://${host}/apis`,
      `http://localhost.:${new URL(service.baseURL).port}/apis`,
    ]) {
      await operator
        .post('audiences', draft('sample', identifier))
        .fails(422, 'Invalid', 'spec.identifier');
    }
    for (const [i, identifier] of [
      'urn:example:billing',
      'http://localhost:8092/mcp',
      'https://a.test/x?y=1',
    ].entries()) {
      await operator.post('audiences', draft(`good-${i}`, identifier)).is(201);
    }
  });

  test('has an identifier of its own, which does not change', async () => {
    await operator.post('audiences', draft('one', 'https://one.example.test')).is(201);
    await operator
      .post('audiences', draft('two', 'https://one.example.test/'))
      .fails(409, 'AlreadyExists');
    await operator
      .patch('audiences/one', { spec: { identifier: 'https://other.example.test' } })
      .fails(422, 'Invalid', 'spec.identifier');
    await operator
      .post('audiences', draft('vestibule', 'https://v.example.test'))
      .fails(422, 'Invalid', 'metadata.name');
    expect(
      await service.store.reader(Audience).byUnique('identifier', 'https://one.example.test'),
    ).toBeDefined();
  });
});
