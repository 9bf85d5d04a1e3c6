import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Fronted, master, proxyOf, startFronted } from '../../support/cluster/frontproxy.js';
import { expectFor } from '../../support/expect-for.js';
import { Stream } from '../../support/network/stream.js';
import { tokenOf } from '../../support/people/device.js';
import { signIn } from '../../support/people/signin.js';
import { type Init, Tab } from '../../support/people/tab.js';
import { createClient, stopAll } from '../../support/service.js';
import { stores } from '../../support/stores.js';

const mounts = ['/api/v1beta1/', '/apis/id.vestibule.org/v1beta1/'];
const evil = 'https://evil.test';
const apiVersion = 'id.vestibule.org/v1beta1';

/** The roads to the API, and the code where a request passes: a Public Client has no secret. */
const roads: readonly (readonly [
  road: string,
  method: string,
  path: string,
  code: number,
  type?: string,
  body?: object,
])[] = [
  ['get', 'GET', 'groups/staff', 200],
  ['head', 'HEAD', 'groups/staff', 200],
  ['list', 'GET', 'groups', 200],
  ['watch', 'GET', 'groups?watch=true&timeout=10ms', 200],
  ['watch of one', 'GET', 'groups/staff?watch=true&timeout=10ms', 200],
  ['create', 'POST', 'groups?dryRun=All', 201, 'application/json', { metadata: { name: 'x' } }],
  ['merge patch', 'PATCH', 'groups/staff', 200, 'application/merge-patch+json', {}],
  ['JSON patch', 'PATCH', 'groups/staff', 200, 'application/json-patch+json', []],
  [
    'apply',
    'PATCH',
    'groups/staff?fieldManager=m&force=true',
    200,
    'application/apply-patch+yaml',
    { apiVersion, kind: 'Group', spec: { displayName: 'Staff' } },
  ],
  ['delete', 'DELETE', 'groups/staff?dryRun=All', 200],
  ['delete the collection', 'DELETE', 'mockmessages', 200],
  ['action', 'POST', 'clients/app/secret', 409, 'application/json', {}],
];
const bodyOf = (road: string, body: object | undefined): { body?: string } => {
  const specs: Record<string, object> = {
    create: { spec: { displayName: 'X' } },
    action: { spec: {} },
  };
  return body ? { body: JSON.stringify(road in specs ? { ...body, ...specs[road] } : body) } : {};
};

describe.each(stores)('who is no browser, on %s', (store) => {
  let front: Fronted;
  let operator: Tab;
  let token: string;
  beforeAll(async () => {
    front = await startFronted({ store, flags: ['--operators', 'op@example.test'] });
    await createClient(front.service, 'app');
    operator = (await signIn(front.service, 'op@example.test')).tab;
    token = await tokenOf(front.service, operator);
    await operator
      .post('groups', { metadata: { name: 'staff' }, spec: { displayName: 'Staff' } })
      .is(201);
  });
  afterAll(stopAll);

  const send = (
    tab: Tab,
    [road, method, path, , type, body]: (typeof roads)[number],
    headers: Init['headers'],
  ) =>
    Promise.all(
      mounts.map(async (mount) => {
        const init = {
          plain: true,
          headers: { ...(type && { 'content-type': type }), ...headers },
          ...bodyOf(road, body),
        };
        return (await tab.send(method, mount + path, init)).code;
      }),
    );
  /** What a browser or a program says of the page that sent a request. */
  const pages = (): Record<string, string | string[]>[] => [
    { origin: front.service.baseURL },
    { origin: evil },
    { origin: 'null' },
    { origin: '' },
    { origin: [front.service.baseURL, evil] },
    { origin: evil, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
  ];

  describe.each(roads)('%s', (...road) => {
    const [, , , code] = road;

    test('passes with a token and no cookie, from any Origin', async () => {
      for (const page of pages()) {
        for (const authorization of [`Bearer ${token}`, `bearer ${token}`]) {
          expectFor(
            page,
            await send(front.service.tab(), road, { authorization, ...page }),
          ).toEqual([code, code]);
        }
      }
    });

    test('is refused with a token that is none, or no bearer token', async () => {
      for (const page of pages()) {
        for (const [authorization, refusal] of [
          ['Bearer bad', 401],
          ['Basic eDp5', 403],
          ['Bearer', 403],
          ['', 403],
        ] as const) {
          expectFor(
            [page, authorization],
            await send(front.service.tab(), road, { authorization, ...page }),
          ).toEqual([refusal, refusal]);
        }
      }
    });

    test('is refused with a token beside a cookie, or Sec-Fetch-Site', async () => {
      const authorization = `Bearer ${token}`;
      for (const page of pages()) {
        for (const more of [
          { cookie: 'other=1' },
          { cookie: '' },
          { 'sec-fetch-site': 'same-origin' },
          { 'sec-fetch-site': 'cross-site' },
          { 'sec-fetch-site': '' },
        ]) {
          expectFor(
            [page, more],
            await send(front.service.tab(), road, { authorization, ...page, ...more }),
          ).toEqual([403, 403]);
        }
      }
      for (const page of pages()) {
        expect(await send(operator, road, { authorization, ...page })).toEqual([403, 403]);
      }
    });

    test('passes a front proxy that proves itself, from any page', async () => {
      for (const page of [...pages(), {}]) {
        for (const site of [undefined, 'same-origin', 'same-site', 'cross-site', 'none', '']) {
          const headers = { ...page, ...(site !== undefined && { 'sec-fetch-site': site }) };
          expectFor(headers, await send(front.caller(front.proxy, master), road, headers)).toEqual([
            code,
            code,
          ]);
        }
      }
    });

    test('is judged where a front proxy proves nothing', async () => {
      const other = proxyOf(front.authority, { name: 'someone-else' });
      for (const pair of [undefined, other]) {
        for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: evil }]) {
          const codes = await send(front.caller(pair, master), road, headers);
          const isRead = ['GET', 'HEAD'].includes(road[1]) && 'origin' in headers;
          expectFor(headers, codes).toEqual(isRead ? [401, 401] : [403, 403]);
        }
      }
    });
  });

  test.each([
    ['websocket', true],
    ['WebSocket', true],
    ['h2c', false],
  ])('a watch that asks for %s ends at once: %p', async (upgrade, ends) => {
    const ask = (query: string, token: string): Stream => {
      const origin = front.service.baseURL;
      const headers = { origin, connection: 'Upgrade', upgrade, 'sec-websocket-version': '13' };
      const program = Object.assign(front.service.tab(), { headers });
      return new Stream(program, `groups?watch=true${query}`, 'application/json', token);
    };
    const stream = await ask('', token).until(({ ended, events }) => ended || events.length > 0);
    expect([stream.code, stream.ended, stream.clean]).toEqual([200, ends, ends]);
    stream.close();
    const refused = async (query: string, token: string): Promise<number> =>
      (await ask(query, token).until(({ ended }) => ended)).code;
    expect(await refused('', 'bad')).toBe(401);
    expect(await refused('&continue=x', token)).toBe(400);
  });
});
