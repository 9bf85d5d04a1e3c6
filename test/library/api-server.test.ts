import { request } from 'node:http';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import type {
  ApiServer,
  ApiServerOptions,
  Reconciler,
  Worker,
} from '../../apiserver/library/index.js';
import {
  bearerToken,
  kindsOf,
  openStorage,
  startApiServer,
} from '../../apiserver/library/index.js';
import { Keys } from '../../security/keyring.js';
import { until } from '../provider/support/fixture.js';
import { testKeys } from '../support/keys.js';
import { stopAll, temporary } from '../support/service.js';

const defineKind = kindsOf({ group: 'wardle.example.com', version: 'v1alpha1' });
const Flunder = defineKind({
  kind: 'Flunder',
  resource: 'flunders',
  description: 'A flat fish.',
  verbs: ['get', 'list', 'create', 'delete'],
  spec: z.object({ reference: z.string().max(63).default('').describe('A Fischer.') }),
  status: z.object({}),
  columns: {},
  strategy: {
    beforeCommit: (tx, next) => tx.enqueue('count', next?.metadata.name, Date.now() + 60_000),
  },
});
const path = '/apis/wardle.example.com/v1alpha1/flunders';
const keys = new Keys(testKeys());

const running: ApiServer[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

afterAll(stopAll);

async function start(options: Partial<ApiServerOptions> = {}): Promise<ApiServer> {
  const storage = await openStorage({ directory: temporary() });
  const server = await startApiServer({ kinds: [Flunder], storage, keys, ...options });
  running.push(server);
  return server;
}

/** One request; a browser's `fetch` could not name another host. */
const ask = (url: string, headers: Record<string, string> = {}): Promise<[number, any]> =>
  new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      let text = '';
      response.on('data', (part: Buffer) => {
        text += part.toString();
      });
      response.on('end', () =>
        resolve([response.statusCode!, text.startsWith('{') ? JSON.parse(text) : text]),
      );
    })
      .on('error', reject)
      .end();
  });

test('is ready, serves its kinds, and has neither pages nor a provider', async () => {
  const { url } = await start();
  expect(await ask(`${url}/readyz`)).toEqual([200, 'ok']);
  expect(await ask(url + path)).toMatchObject([200, { kind: 'FlunderList', items: [] }]);
  const [, document] = await ask(`${url}/api/openapi/v3`);
  expect(document).toMatchObject({
    info: { title: 'wardle', version: 'v1alpha1+0.0.0' },
    components: { securitySchemes: {} },
  });
  expect(JSON.stringify(document)).not.toMatch(/vestibule/i);
  for (const one of ['/', '/account', '/console', '/assets/style.css', '/oauth2/jwks', '/other']) {
    expect([one, ...(await ask(url + one, { 'Sec-Fetch-Mode': 'navigate' }))]).toMatchObject([
      one,
      404,
      { kind: 'Status', reason: 'NotFound' },
    ]);
  }
});

test('without authentication, only this machine is served, by names of its own', async () => {
  const storage = await openStorage({ directory: temporary() });
  await expect(
    startApiServer({ kinds: [Flunder], storage, keys, address: '0.0.0.0' }),
  ).rejects.toThrow('anyone who reaches 0.0.0.0 could change everything: set a token');
  await expect(storage.get('meta/ready')).rejects.toThrow();
  const { url } = await start();
  expect(await ask(url + path, { Host: 'attacker.example' })).toMatchObject([
    400,
    { message: expect.stringContaining('attacker.example') },
  ]);
});

test('a token names the operator, and no token is refused', async () => {
  const token = 'a-token-of-enough-characters';
  const { url } = await start({ token });
  expect(await ask(url + path, { Authorization: `Bearer ${token}` })).toMatchObject([200, {}]);
  for (const headers of [{}, { Authorization: 'Bearer another' }, { Authorization: token }]) {
    expect(await ask(url + path, headers as never)).toMatchObject([401, {}]);
  }
  expect(await ask(`${url}/apis`)).toMatchObject([200, {}]);
  expect(() => bearerToken('short', { user: 'one' })).toThrow('at least 16 characters');
});

/** A kind with an object for each user. */
const Boat = defineKind({
  kind: 'Boat',
  resource: 'boats',
  description: 'What a user has.',
  verbs: ['get', 'create', 'delete'],
  ownName: ({ user }) => user,
  spec: z.object({}),
  status: z.object({}),
  columns: {},
});

test('`~` is the object that a kind names for a caller', async () => {
  const { url, store } = await start({
    kinds: [Boat, Flunder],
    authenticators: [
      ({ request: { headers } }) => {
        const user = headers.authorization?.replace('Bearer ', '');
        return user === undefined ? undefined : { type: 'ClusterUser', user, groups: [] };
      },
    ],
  });
  await store.systemCall().change((tx) => tx.create(Boat, { metadata: { name: 'ada' }, spec: {} }));
  const boats = '/apis/wardle.example.com/v1alpha1/boats';
  const ada = { Authorization: 'Bearer ada' };
  expect([
    await ask(`${url}${boats}/~`, ada),
    await ask(`${url}${boats}/~`, { Authorization: 'Bearer bob' }),
    await ask(`${url}${boats}/~`),
    await ask(`${url}${path}/~`, ada),
  ]).toMatchObject([
    [200, { kind: 'Boat', metadata: { name: 'ada' } }],
    [404, { details: { name: 'bob' } }],
    [401, {}],
    [404, { details: { name: '~' } }],
  ]);
});

test('an authorizer decides', async () => {
  const { url } = await start({
    authorize: ({ action }) => ({ allowed: action === 'get', reasons: [] }),
  });
  expect(await ask(`${url}${path}/one`)).toMatchObject([404, {}]);
  expect(await ask(url + path)).toMatchObject([401, {}]);
});

test('reconciles what is due, after each change', async () => {
  const reconciled: string[] = [];
  const { store } = await start({
    reconcilers: [
      {
        name: 'flunders',
        kind: Flunder,
        isDue: ({ spec }) => spec.reference === '',
        async reconcile(tx, { metadata }) {
          await tx.update(Flunder, metadata.name, (next) => {
            next.spec.reference = 'found';
          });
          tx.after(() => reconciled.push(metadata.name));
        },
      } satisfies Reconciler<typeof Flunder>,
    ],
  });
  await store
    .systemCall()
    .change((tx) => tx.create(Flunder, { metadata: { name: 'one' }, spec: { reference: '' } }));
  await until(async () => reconciled.length > 0, 'the object to be reconciled');
  expect(await store.reader(Flunder).get('one')).toMatchObject({ spec: { reference: 'found' } });
  expect(reconciled).toEqual(['one']);
});

test('runs outbox rows, and stops once', async () => {
  const ran: unknown[] = [];
  let done = (): void => {};
  const first = new Promise<void>((resolve) => {
    done = resolve;
  });
  const worker: Worker = {
    name: 'count',
    delivery: 'Idempotent',
    maxParallel: 1,
    async run(payload) {
      ran.push(payload);
      done();
      return { done: true };
    },
  };
  const server = await start({ workers: [worker] });
  await server.store
    .systemCall()
    .change((tx) => tx.create(Flunder, { metadata: { name: 'one' }, spec: { reference: '' } }));
  await first;
  expect(ran).toEqual(['one']);
  await Promise.all([server.stop(), server.stop()]);
});
