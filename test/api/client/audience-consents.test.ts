import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import {
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
import { settles } from '../../support/patience.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

describe.each(stores)('consent to an Audience, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let original: string;
  let number = 0;
  const person = (): Promise<Tab> => newPerson(service, `c${(number += 1)}-${store}@example.test`);

  beforeAll(async () => {
    service = await startTest({
      store,
      quickDecisions: true,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    for (const name of ['billing', 'stock']) {
      await createRequester(service, `${name}-api`, []);
      await createAudience(service, name);
    }
    await createRequester(service, 'shop', ['billing', 'stock']);
    await createRequester(service, 'till', ['billing', 'stock'], { firstParty: true });
    operator = (await signIn(service, 'op@example.test')).tab;
    original = (await operator.get('policies/p-1').is(200)).body.spec.cedar;
  });
  afterEach(async () => {
    const { body } = await operator.get('policies').is(200);
    if (body.items.length > 1) await operator.post('policies', { spec: { cedar: original } });
  });

  /** Puts the default policy with a rule more in force. */
  const withRule = (rule: string) =>
    operator.post('policies', { spec: { cedar: `${original}\n${rule}\n` } }).is(201);

  const grantOf = async (tab: Tab, client = 'shop'): Promise<any> =>
    (await tab.get('grants').is(200)).body.items.find(
      (item: any) => item.status.client.name === client,
    );

  /** The interaction at which a request for Audiences stops. */
  async function consentOf(tab: Tab, wanted: Parameters<typeof pathFor>[0]): Promise<string> {
    const { headers } = await tab.navigate(pathFor(wanted).path).is(303);
    expect(headers.location).toMatch(/^\/api\/v1beta1\/interactions\//);
    return headers.location!;
  }

  test.each([
    ['named', identifierOf('billing')],
    ['not named', undefined],
  ])('of which nothing was agreed to is refused in words if it is %s', async (_, resource) => {
    const tab = await person();
    const before = service.logs.length;
    const back = await visit(tab, { ...offline, audiences: ['billing'], agree: ['openid'] });
    const { code, body } = await redeem(service, back, resource);
    console.log(code, JSON.stringify(body), service.logs.slice(before).join(''));
  });

  test('shows its scopes with its name; what is agreed to is in the Grant', async () => {
    const tab = await person();
    const I = await consentOf(tab, { ...offline, audiences: ['billing', 'stock'] });
    const { body } = await tab.get(I).is(200);
    const ids = ['billing/read', 'billing/write', 'stock/read', 'stock/write'];
    expect(body.spec.scopes).toEqual(['openid', 'offline_access', ...ids]);
    expect(body.status.consent.scopes[2]).toEqual({
      name: 'billing/read',
      title: 'May read',
      description: 'What read permits.',
      sensitive: false,
      required: false,
      granted: false,
      provider: { name: 'billing', displayName: 'The people of billing' },
      audience: {
        name: 'billing',
        displayName: 'The billing',
        operatedBy: 'The people of billing',
      },
      allowed: true,
      preview: [],
    });
    await tab
      .post(`${I}/consent`, { spec: { scopes: ['openid', 'vault/read'] } })
      .fails(422, 'Invalid', 'spec.scopes[1]');
    await tab
      .post(`${I}/consent`, {
        spec: { scopes: ['openid', 'offline_access', 'billing/read', 'stock/write'] },
      })
      .is(200);
    const { spec, status } = await grantOf(tab);
    expect(spec).toEqual({
      scopes: ['openid', 'offline_access'],
      audiences: [
        { name: 'billing', scopes: ['read'] },
        { name: 'stock', scopes: ['write'] },
      ],
    });
    expect(status.audiences[1]).toEqual({
      name: 'stock',
      displayName: 'The stock',
      operatedBy: 'The people of stock',
      scopes: [{ name: 'write', title: 'May write' }],
    });
    expect(status.shareDecisions.map((shareDecision: any) => shareDecision.scope)).toEqual(
      expect.arrayContaining(['billing/read', 'stock/write']),
    );
  });

  test('is taken back for one Audience without the others, at once', async () => {
    const tab = await person();
    const back = await visit(tab, { ...offline, audiences: ['billing', 'stock'] });
    const { body: first } = await redeem(service, back, identifierOf('billing'));
    const { body: second } = await refresh(service, 'shop', first.refresh_token, {
      resource: identifierOf('stock'),
    });
    const grant = await grantOf(tab);
    const at = `grants/${grant.metadata.name}`;
    await tab
      .patch(at, { spec: { audiences: [{ name: 'vault', scopes: ['read'] }] } })
      .fails(422, 'Invalid', 'spec.audiences[0].name');
    await tab
      .patch(at, { spec: { audiences: [{ name: 'stock', scopes: ['read', 'delete'] }] } })
      .fails(422, 'Invalid', 'spec.audiences[0].scopes[1]');
    const { body: left } = await tab
      .patch(at, { spec: { audiences: [{ name: 'stock', scopes: ['read', 'write'] }] } })
      .is(200);
    expect(left.status.audiences.map((audience: any) => audience.name)).toEqual(['stock']);
    expect(await introspect(service, 'billing-api', first.access_token)).toEqual({ active: false });
    expect(await introspect(service, 'stock-api', second.access_token)).toMatchObject({
      active: true,
    });
    const refreshed = (audience: string) =>
      refresh(service, 'shop', first.refresh_token, { resource: identifierOf(audience) });
    expect((await refreshed('billing')).body.error).toBe('invalid_target');
    expect((await refreshed('stock')).body.scope).toBe('read write');
    const again = await consentOf(tab, { audiences: ['billing'] });
    await tab.delete(again).is(200);
    const { path } = pathFor({ audiences: ['stock'] });
    const { headers } = await tab.navigate(path).is(303);
    expect(headers.location).toContain('code=');
    await tab.patch(at, { spec: { audiences: null } }).is(200);
    expect(await introspect(service, 'stock-api', second.access_token)).toEqual({ active: false });
  });

  test('to fewer scopes ends tokens with more, and later scopes are added to it', async () => {
    const tab = await person();
    const back = await visit(tab, { ...offline, audiences: ['billing'] });
    const { body } = await redeem(service, back);
    const at = `grants/${(await grantOf(tab)).metadata.name}`;
    await tab.patch(at, { spec: { audiences: [{ name: 'billing', scopes: ['read'] }] } }).is(200);
    expect(await introspect(service, 'billing-api', body.access_token)).toEqual({ active: false });
    const { body: narrower } = await refresh(service, 'shop', body.refresh_token);
    expect(narrower.scope).toBe('read');
    expect(await introspect(service, 'billing-api', narrower.access_token)).toMatchObject({
      active: true,
      scope: 'read',
    });
    await visit(tab, {
      scope: 'openid offline_access write',
      parameters: { prompt: 'consent' },
      audiences: ['billing'],
    });
    expect((await grantOf(tab)).spec.audiences).toEqual([
      { name: 'billing', scopes: ['read', 'write'] },
    ]);
    expect(await introspect(service, 'billing-api', narrower.access_token)).toMatchObject({
      active: true,
    });
  });

  test('is not needed again, and who agrees to none of it is signed in', async () => {
    const tab = await person();
    const back = await visit(tab, {
      scope: 'openid read',
      audiences: ['billing'],
      agree: ['openid'],
    });
    expect((await grantOf(tab)).spec).toEqual({ scopes: ['openid'] });
    const named = await redeem(service, back, identifierOf('billing'));
    expect([named.code, named.body.error]).toEqual([400, 'invalid_target']);
    const { body } = await redeem(service, back);
    expect(body).toMatchObject({ scope: 'openid', id_token: expect.any(String) });
    const { path } = pathFor({ scope: 'openid read', audiences: ['billing'] });
    expect((await tab.navigate(path).is(303)).headers.location).toContain('code=');
  });

  test('is asked for again by a new Audience of the same name', async () => {
    await createAudience(service, 'fair', { introspectors: [] });
    await createRequester(service, 'stall', ['fair']);
    const wanted = { client: 'stall', audiences: ['fair'] };
    const tab = await person();
    await visit(tab, wanted);
    const { path } = pathFor(wanted);
    expect((await tab.navigate(path).is(303)).headers.location).toContain('code=');
    await operator.delete('audiences/fair').is(200);
    await createAudience(service, 'fair', { introspectors: [] });
    await settles(
      async () => (await tab.navigate(path)).headers.location!,
      (location) => location.startsWith('/api/'),
    );
  });

  test('is not asked of people for a Client of the same operator', async () => {
    const tab = await person();
    const { path } = pathFor({ client: 'till', audiences: ['billing'] });
    expect((await tab.navigate(path).is(303)).headers.location).toContain('code=');
    expect((await grantOf(tab, 'till')).spec.audiences).toEqual([
      { name: 'billing', scopes: ['read'] },
    ]);
    const back = await visit(tab, {
      client: 'till',
      scope: 'openid write',
      audiences: ['billing', 'stock'],
    });
    const { body } = await redeem(service, back, identifierOf('stock'));
    expect(await introspect(service, 'stock-api', body.access_token)).toMatchObject({
      active: true,
      scope: 'write',
    });
    expect((await grantOf(tab, 'till')).spec.audiences).toEqual([
      { name: 'billing', scopes: ['read', 'write'] },
      { name: 'stock', scopes: ['write'] },
    ]);
  });

  test('is decided by policy for each scope, at consent, at issuance and at each refresh', async () => {
    const tab = await person();
    const before = await visit(tab, { ...offline, audiences: ['billing', 'stock'] });
    const { body: tokens } = await redeem(service, before, identifierOf('billing'));
    expect(tokens.scope).toBe('read write');
    const pending = await visit(tab, { scope: 'openid read write', audiences: ['billing'] });
    await withRule(
      '@id("no-writing") @message("Not here.") forbid (principal, action == Action::"share", resource is Scope) when { resource.audience == "billing" && resource.sensitive && resource.provider == "" };',
    );
    expect((await redeem(service, pending)).body.scope).toBe('read');
    expect(
      (await refresh(service, 'shop', tokens.refresh_token, { resource: identifierOf('billing') }))
        .body.scope,
    ).toBe('read');
    expect(
      (await refresh(service, 'shop', tokens.refresh_token, { resource: identifierOf('stock') }))
        .body.scope,
    ).toBe('read write');
    const other = await person();
    const I = await consentOf(other, { scope: 'openid read write', audiences: ['billing'] });
    const { scopes } = (await other.get(I).is(200)).body.status.consent;
    expect(scopes.map((scope: any) => [scope.name, scope.allowed, scope.reason])).toEqual([
      ['openid', true, undefined],
      ['billing/read', true, undefined],
      ['billing/write', false, 'Not here.'],
    ]);
    await other
      .post(`${I}/consent`, { spec: { scopes: ['openid', 'billing/write'] } })
      .fails(422, 'Invalid', 'spec.scopes[1]');
    await withRule(
      'forbid (principal, action == Action::"share", resource == Scope::"stock/read"); forbid (principal, action == Action::"share", resource == Scope::"stock/write");',
    );
    const refused = await refresh(service, 'shop', tokens.refresh_token, {
      resource: identifierOf('stock'),
    });
    expect([refused.code, refused.body.error]).toEqual([400, 'invalid_target']);
  });
});
