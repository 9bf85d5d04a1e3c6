import type { LookupAddress } from 'node:dns';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Fetch } from '../../provider/context/egress-fetch.js';
import { stores } from '../support/stores.js';

/** What names resolve to, one answer after another; the last one stays. */
const answers = new Map<string, LookupAddress[][]>();
const asked: string[] = [];
const actual = await import('node:dns/promises');
jest.unstable_mockModule('node:dns/promises', () => ({
  ...actual,
  async lookup(name: string, options: object) {
    const known = answers.get(name);
    if (!known) return actual.lookup(name, options);
    asked.push(name);
    return known.length > 1 ? known.shift()! : known[0]!;
  },
}));
const { createFetch } = await import('../../provider/context/egress-fetch.js');
const { ClaimsProvider } = await import('../../kinds/apps/claims/claims-provider.js');
const { createClient, startTest, stopAll } = await import('../support/service.js');
const { signIn } = await import('../support/people/signin.js');
const { until } = await import('./support/fixture.js');

const at = (...addresses: string[]): LookupAddress[] =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

let listener: Server;
let port: number;
let connections = 0;
beforeAll(async () => {
  listener = createServer((request, response) => {
    response.end(String(request.headers.host));
  }).on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((done) => {
    listener.listen(0, done);
  });
  port = (listener.address() as AddressInfo).port;
});
afterAll(async () => {
  listener.closeAllConnections();
  listener.close();
  await stopAll();
});
beforeEach(() => {
  answers.clear();
  asked.length = connections = 0;
});

describe('a name', () => {
  const get = (fetch: Fetch, name: string, scheme = 'https') =>
    fetch(`${scheme}://${name}:${port}/`, { method: 'GET' });
  const [local, strict] = [
    createFetch({ baseURL: 'http://localhost:1' }),
    createFetch({ baseURL: 'https://id.example.test' }),
  ];

  test.each([
    ['127.0.0.1'],
    ['::1'],
    ['10.0.0.1'],
    ['169.254.169.254'],
    ['::ffff:127.0.0.1'],
    ['::ffff:a9fe:a9fe'],
    ['::127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['2002:7f00:1::'],
    ['fe80::1%lo'],
    ['fd00::1'],
    ['0.0.0.0'],
    ['::'],
    ['93.184.216.34', '127.0.0.1'],
    ['2606:2800:220:1:248:1893:25c8:1946', '::1'],
    [],
  ])(
    'that leads to %s (and %s) is refused, every address of it being judged',
    async (...addresses) => {
      answers.set('inside.example.test', [at(...addresses)]);
      await expect(get(strict, 'inside.example.test')).rejects.toMatchObject({
        name: 'EgressRefusedError',
      });
      expect([asked.length, connections]).toEqual([1, 0]);
    },
  );

  test('is asked about once: the connection goes to the address that was judged', async () => {
    answers.set('rebound.example.test', [at('127.0.0.1'), at('10.0.0.1')]);
    const { body } = await get(local, 'rebound.example.test', 'http');
    expect([body.toString(), asked.length, connections]).toEqual([
      `rebound.example.test:${port}`,
      1,
      1,
    ]);
    await expect(get(local, 'rebound.example.test', 'http')).rejects.toMatchObject({
      name: 'EgressRefusedError',
    });
    expect(connections).toBe(1);
  });

  test('of loopback is closed while the base URL is public, over http at all', async () => {
    answers.set('outside.example.test', [at('93.184.216.34')]);
    await expect(get(strict, 'outside.example.test', 'http')).rejects.toMatchObject({
      name: 'EgressRefusedError',
    });
    await expect(get(local, 'outside.example.test', 'http')).rejects.toMatchObject({
      name: 'EgressRefusedError',
    });
    expect(connections).toBe(0);
  });
});

test.each(stores)(
  'a supplier whose name leads inside is not connected to, over %s',
  async (store) => {
    const service = await startTest({
      store,
      flags: [
        '--base-url',
        'https://id.example.test',
        '--allow-mock-mail',
        '--limit-factor',
        '100',
      ],
    });
    await createClient(service, 'app', {
      scopes: [
        { name: 'openid', required: true },
        { name: 'card', required: false },
      ],
    });
    answers.set('cards.example.test', [at('127.0.0.1')]);
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.create(ClaimsProvider, {
        metadata: { name: 'card' },
        spec: {
          displayName: 'Card',
          reviewURI: `https://cards.example.test:${port}/`,
          timeoutMilliseconds: 2000,
          failurePolicy: 'Omit',
          scopes: [
            {
              name: 'card',
              title: 'Card',
              description: 'x',
              sensitive: false,
              claims: [{ name: 'tier', title: 'Tier', type: 'string' }],
            },
          ],
        },
      }),
    );
    const { tab, callback } = await signIn(service, 'ada@example.test', { scope: 'openid card' });
    expect(callback.searchParams.get('code')).toBeTruthy();
    const [review] = await until(async () => {
      const { items } = (await tab.get('claimsreviews').is(200)).body;
      return items.length > 0 && items;
    }, 'a review');
    expect(review.status).toMatchObject({ outcome: 'Refused', claims: [] });
    expect([asked.length > 0, connections]).toEqual([true, 0]);
  },
);
