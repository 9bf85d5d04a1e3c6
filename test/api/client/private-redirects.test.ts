import { afterAll, describe, expect, test } from '@jest/globals';
import { Client, type ClientSpec } from '../../../kinds/apps/client/client.js';
import { metadataOf } from '../../../provider/adapter/clients.js';
import { expectFor } from '../../support/expect-for.js';
import { authorizationPath, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const operators = ['--operators', 'op@example.test'];
const allowed = '--allow-private-http-redirects';
const inNetwork = [
  'http://10.1.2.3/cb',
  'http://172.16.0.9:8080/cb',
  'http://172.31.255.1/cb',
  'http://192.168.1.10/cb',
  'http://[fd12:3456::1]:8123/cb',
  'http://home.local/cb',
  'http://nas.lan.home.arpa/cb',
];
const elsewhere = [
  'http://172.32.0.1/cb',
  'http://100.64.0.1/cb',
  'http://169.254.169.254/cb',
  'http://8.8.8.8/cb',
  'http://[2001:db8::1]/cb',
  'http://[fe80::1]/cb',
  'http://app.example.test/cb',
  'http://local/cb',
  'http://.local/cb',
  'http://app.local.example.test/cb',
  'http://192.168.1.10.example.test/cb',
];

describe.each(stores)('http redirect URIs in private networks, on %s', (store) => {
  const made = async (tab: Tab, uri: string, field = 'redirectURIs') =>
    tab.post('clients?dryRun=All', {
      metadata: { name: 'nas' },
      spec: { displayName: 'NAS', [field]: [uri] },
    });
  /** An operator of a service. */
  const operatorOf = async (service: TestService): Promise<Tab> => {
    await createClient(service, 'app');
    return (await signIn(service, 'op@example.test')).tab;
  };

  test('are refused, and the refusal says how they are permitted', async () => {
    const operator = await operatorOf(await startTest({ store, flags: operators }));
    for (const uri of inNetwork) {
      const { code, body } = await made(operator, uri);
      expectFor(uri, [code, body.details.causes[0].field]).toEqual([422, 'spec.redirectURIs[0]']);
      expect(body.message).toContain(allowed);
    }
  });

  test('are permitted by the setting, and a condition says so; others are not', async () => {
    const operator = await operatorOf(await startTest({ store, flags: [...operators, allowed] }));
    for (const uri of inNetwork) {
      for (const field of ['redirectURIs', 'postLogoutRedirectURIs']) {
        const { code, body } = await made(operator, uri, field);
        expectFor([uri, field], code).toEqual(201);
        expect(body.status.conditions).toContainEqual(
          expect.objectContaining({ type: 'RedirectsUnencrypted', status: 'True' }),
        );
      }
    }
    for (const uri of elsewhere) {
      const { code, body } = await made(operator, uri);
      expectFor(uri, code).toEqual(422);
      expect(body.message).not.toContain(allowed);
    }
    const { body } = await made(operator, 'https://nas.example.test/cb');
    expect(body.status.conditions.map(({ type }: any) => type)).toEqual(['Ready', 'PKCERequired']);
  });

  test('lead to the app', async () => {
    const [uri] = inNetwork;
    const service = await startTest({ store, flags: [allowed] });
    await createClient(service, 'nas', { redirectURIs: [uri!] });
    const parameters = { redirect_uri: uri!, prompt: 'none' };
    const path = authorizationPath('nas', 'openid', 'v'.repeat(43), parameters);
    const { headers } = await service.tab().navigate(path).is(303);
    expect(new URL(headers.location!).host).toBe('10.1.2.3');
  });
});

test('lead nowhere once the setting is off', () => {
  const spec = {
    ...(Client.spec.parse({ displayName: 'NAS' }) as ClientSpec),
    redirectURIs: [...inNetwork, 'https://nas.example.test/cb'],
    postLogoutRedirectURIs: [...inNetwork],
  };
  const settings = { deviceAuthorization: true, allowPrivateHTTPRedirects: false };
  const client = { metadata: { name: 'nas' }, spec };
  expect(metadataOf(client, new Set(['openid']), settings)).toMatchObject({
    redirect_uris: ['https://nas.example.test/cb'],
    post_logout_redirect_uris: [],
  });
});
