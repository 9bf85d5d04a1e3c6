import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Audience } from '../../../kinds/apps/audience/audience.js';
import {
  createAudience,
  createRequester,
  identifierOf,
  introspect,
  newPerson,
  offline,
  pathFor,
  visit,
} from '../../support/audiences.js';
import { clock } from '../../support/clock.js';
import { type DocumentServer, startDocumentServer } from '../../support/network/document-server.js';
import { authorizationPath, proceed, signIn } from '../../support/people/signin.js';
import type { Answer, Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

let documents: DocumentServer;
afterEach(() => clock.release());
beforeAll(async () => {
  documents = await startDocumentServer();
});
afterAll(async () => {
  documents.close();
  await stopAll();
});

const inactive = { active: false };
const permit = `permit (principal, action == Action::"register", resource);`;

describe.each(stores)('an Audience for Clients by metadata document, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let setRules: (rules: string) => Promise<unknown>;
  let number = 0;
  const person = (): Promise<Tab> => newPerson(service, `d${(number += 1)}-${store}@example.test`);
  const documentPath = (): string => `/${store}/${(number += 1)}/client.json`;

  beforeAll(async () => {
    service = await startTest({
      store,
      quickDecisions: true,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    for (const name of ['notes-api', 'vault-api']) await createRequester(service, name, []);
    await createAudience(service, 'notes', { clientsByDocument: true });
    await createAudience(service, 'vault');
    await createRequester(service, 'shop', ['vault']);
    operator = (await signIn(service, 'op@example.test')).tab;
    const { cedar } = (await operator.get('policies/p-1').is(200)).body.spec;
    setRules = (rules) =>
      operator.post('policies', { spec: { cedar: `${cedar}\n${rules}\n` } }).is(201);
    await setRules(permit);
  });

  const setAccepts = (audience: string, clientsByDocument: boolean) =>
    service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Audience, audience, ({ spec }) => {
        spec.clientsByDocument = clientsByDocument;
      }),
    );

  const token = (client: string, fields: Record<string, string>): Promise<Answer> =>
    Promise.resolve(
      service.tab().send('POST', '/oauth2/token', {
        plain: true,
        body: new URLSearchParams({ client_id: client, ...fields }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    );

  const refresh = (client: string, refreshToken: string): Promise<Answer> =>
    token(client, { grant_type: 'refresh_token', refresh_token: refreshToken });

  /** A new person's tokens for the Audience notes. */
  async function tokensOf(client: string, wanted: Parameters<typeof visit>[1] = offline) {
    const tab = await person();
    const { callback, verifier } = await visit(tab, { ...wanted, client, audiences: ['notes'] });
    const { body } = await token(client, {
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code') ?? '',
      redirect_uri: 'https://app.example.test/callback',
      code_verifier: verifier,
    });
    return { tab, ...(body as { access_token: string; refresh_token: string; scope: string }) };
  }

  const errorFor = async (client: string, resource: string): Promise<string | null> => {
    const path = `${authorizationPath(client, 'openid read', 'v'.repeat(43))}&resource=${encodeURIComponent(resource)}`;
    const { headers } = await service.tab().navigate(path).is(303);
    return new URL(headers.location!, service.baseURL).searchParams.get('error');
  };

  test('issues tokens to them, with the consent and the Grant that any Client has', async () => {
    const url = documents.serve(documentPath());
    const { tab, ...tokens } = await tokensOf(url);
    expect(tokens.scope).toBe('read write');
    expect(await introspect(service, 'notes-api', tokens.access_token)).toMatchObject({
      active: true,
      aud: identifierOf('notes'),
      client_id: url,
      scope: 'read write',
    });
    expect(await introspect(service, 'vault-api', tokens.access_token)).toEqual(inactive);
    const [grant] = (await tab.get('grants').is(200)).body.items.filter(
      ({ status }: any) => status.client.name === url,
    );
    expect(grant.spec.audiences).toEqual([{ name: 'notes', scopes: ['read', 'write'] }]);
    const { body: next } = await refresh(url, tokens.refresh_token);
    expect(next).toMatchObject({ scope: 'read write' });
    await tab.patch(`grants/${grant.metadata.name}`, { spec: { audiences: null } }).is(200);
    expect(await introspect(service, 'notes-api', next.access_token)).toEqual(inactive);
    expect((await refresh(url, next.refresh_token)).body.error).toBe('invalid_target');
  });

  test('shows its scopes at the consent, under its name and who runs it', async () => {
    const url = documents.serve(documentPath());
    const tab = await person();
    const { path } = pathFor({ client: url, scope: 'openid read write', audiences: ['notes'] });
    const { headers } = await tab.navigate(path).is(303);
    const { consent } = (await tab.get(headers.location!).is(200)).body.status;
    expect(consent.scopes.map(({ name }: any) => name)).toEqual([
      'openid',
      'notes/read',
      'notes/write',
    ]);
    expect(consent.scopes[1]).toMatchObject({
      title: 'May read',
      audience: { name: 'notes', operatedBy: 'The people of notes' },
    });
    await setAccepts('notes', false);
    const { body } = await tab.get(headers.location!).is(200);
    await setAccepts('notes', true);
    expect(body.status.consent.scopes[1]).not.toHaveProperty('audience');
    const back = await proceed(tab, path, ['openid', 'notes/read']);
    expect(back.searchParams.has('code')).toBe(true);
  });

  test('is the only sort that they may request, and the answer does not say which exist', async () => {
    const url = documents.serve(documentPath());
    expect(await errorFor(url, identifierOf('notes'))).toBeNull();
    const refused = async (name: string): Promise<string> => {
      const parameters = { resource: identifierOf(name) };
      const path = authorizationPath(url, 'openid read', 'v'.repeat(43), parameters);
      const { bytes, headers } = await service.tab().navigate(path).is(400);
      return bytes.toString().replaceAll(String(headers['audit-id']), 'AUDIT');
    };
    const withoutName = (page: string): string => page.replaceAll(/vault|absent/g, 'NAME');
    expect(withoutName(await refused('vault'))).toBe(withoutName(await refused('absent')));
  });

  test('is not for the other Clients, unless they list it', async () => {
    expect(await errorFor('shop', identifierOf('notes'))).toBe('invalid_target');
    expect(await errorFor('shop', identifierOf('vault'))).toBeNull();
  });

  test('can stop to accept them: tokens are inactive and refreshes are refused at once', async () => {
    const url = documents.serve(documentPath());
    const tokens = await tokensOf(url);
    await setAccepts('notes', false);
    expect(await introspect(service, 'notes-api', tokens.access_token)).toEqual(inactive);
    expect((await refresh(url, tokens.refresh_token)).body.error).toBe('invalid_target');
    await setAccepts('notes', true);
    expect((await refresh(url, tokens.refresh_token)).body.scope).toBe('read write');
  });

  test('gets inactive for tokens of Clients that policy no longer permits', async () => {
    const url = documents.serve(documentPath());
    const tokens = await tokensOf(url);
    await setRules('');
    expect(await introspect(service, 'notes-api', tokens.access_token)).toEqual(inactive);
    await setRules(permit);
    expect(await introspect(service, 'notes-api', tokens.access_token)).toMatchObject({
      active: true,
    });
  });

  test('gets inactive for tokens of Clients whose document is gone, until it is back', async () => {
    const path = documentPath();
    const url = documents.serve(path);
    const tokens = await tokensOf(url);
    const replica = await service.replica();
    documents.handle(path, (_, response) => response.writeHead(500).end());
    expect(await introspect(replica, 'notes-api', tokens.access_token)).toEqual(inactive);
    expect(await introspect(service, 'notes-api', tokens.access_token)).toMatchObject({
      active: true,
    });
    documents.serve(path);
    clock.own();
    clock.advance(61_000);
    expect(await introspect(replica, 'notes-api', tokens.access_token)).toMatchObject({
      active: true,
      client_id: url,
    });
  });
});
