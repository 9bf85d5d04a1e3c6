import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { getValidatedIdTokenClaims, None } from 'oauth4webapi';
import { errorOf, Party } from '../provider/support/party.js';
import { type DocumentServer, startDocumentServer } from '../support/network/document-server.js';
import { stopAll } from '../support/service.js';
import { type ClientsService, openService } from './clients.js';

let opened: ClientsService;
let documents: DocumentServer;
beforeAll(async () => {
  opened = await openService();
  documents = await startDocumentServer();
});
afterAll(async () => {
  documents.close();
  await stopAll();
});

test('oauth4webapi signs in, refreshes and revokes for a client_id that is a URL', async () => {
  const { service, operator } = opened;
  const { cedar } = (await operator.get('policies/p-1').is(200)).body.spec;
  const rule = `permit (principal, action == Action::"register", resource)
    when { resource.host == "${documents.host}" };`;
  await operator.post('policies', { spec: { cedar: `${cedar}\n${rule}` } }).is(201);
  const url = documents.serve('/client.json');
  const party = await Party.discover(service, url, None());
  expect(party.server.client_id_metadata_document_supported).toBe(true);
  const tab = service.tab();
  const scope = 'openid email offline_access';
  const tokens = await party.signIn(tab, 'grace@example.test', scope, { prompt: 'consent' });
  const { aud, sub } = getValidatedIdTokenClaims(tokens)!;
  expect(aud).toBe(url);
  expect(await party.userinfo(tokens.access_token, sub)).toMatchObject({
    email: 'grace@example.test',
  });
  const next = await party.refresh(tokens.refresh_token!);
  await party.refresh(next.refresh_token!);
  expect(await errorOf(party.refresh(tokens.refresh_token!))).toBe('invalid_grant');
  const again = await party.signIn(tab, 'grace@example.test', scope, { prompt: 'consent' });
  await party.revoke(again.refresh_token!);
  expect(await errorOf(party.refresh(again.refresh_token!))).toBe('invalid_grant');
  expect(await errorOf(party.userinfo(next.access_token, sub))).toBe('invalid_token');
  expect(documents.requests).toEqual(['/client.json']);
});
