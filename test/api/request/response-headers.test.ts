import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { begin, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const operator = 'op@example.test';
const patches = 'application/json-patch+json, application/merge-patch+json';

describe.each(stores)('headers of answers, on %s', (store) => {
  let service: TestService;
  let signedIn: Tab;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--operators', operator] });
    await createClient(service, 'notes', { type: 'Public', tokenEndpointAuthMethod: 'none' });
    ({ tab: signedIn } = await signIn(service, operator, { client: 'notes' }));
  });

  test.each<[string, string, string, Record<string, string>, string, string]>([
    [
      'PATCH',
      'clients/notes',
      'text/plain',
      {},
      'accept-patch',
      `${patches}, application/apply-patch+yaml`,
    ],
    [
      'PATCH',
      'clients/notes',
      'application/json',
      {},
      'accept-patch',
      `${patches}, application/apply-patch+yaml`,
    ],
    [
      'PATCH',
      'accounts/~',
      'application/xml',
      {},
      'accept-patch',
      `${patches}, application/apply-patch+yaml`,
    ],
    ['POST', 'groups', 'text/plain', {}, 'accept', 'application/json, application/yaml'],
    ['PUT', 'clients/notes', 'text/plain', {}, 'accept', 'application/json, application/yaml'],
    [
      'POST',
      'groups',
      'application/json',
      { 'content-encoding': 'gzip' },
      'accept-encoding',
      'identity',
    ],
    [
      'PATCH',
      'clients/notes',
      'application/merge-patch+json',
      { 'content-encoding': 'br' },
      'accept-encoding',
      'identity',
    ],
  ])(
    '415 of %s %s as %s with %j says in %s what is taken',
    async (method, path, type, more, header, value) => {
      const { headers } = await signedIn
        .send(method, path, { body: '{}', headers: { 'content-type': type, ...more } })
        .is(415);
      expect(headers[header]).toBe(value);
    },
  );

  test('Vary is on the object as on the redirect to its page, and on errors', async () => {
    const { tab, I } = await begin(service, { client: 'notes' });
    const page = await tab.navigate(`/api/v1beta1/${I}`);
    const object = await tab.get(I).is(200);
    const none = await service.tab().get('interactions/a').is(404);
    for (const { headers } of [page, object, none]) {
      expect(headers['vary']).toBe('Accept, Sec-Fetch-Mode');
    }
  });
});
