import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../../kinds/index.js';
import { type Fronted, master, startFronted } from '../../support/cluster/frontproxy.js';
import { expectFor } from '../../support/expect-for.js';
import { tokenOf } from '../../support/people/device.js';
import { signIn } from '../../support/people/signin.js';
import type { Answer, Tab } from '../../support/people/tab.js';
import { createClient, stopAll } from '../../support/service.js';
import { stores } from '../../support/stores.js';

const evil = 'https://evil.test';
const mounts = ['/api/v1beta1', '/apis/id.vestibule.org/v1beta1'];
const readable = [
  '/api',
  '/api/v1',
  '/api/v1/namespaces',
  '/api/v1/namespaces/default',
  '/apis',
  '/apis/id.vestibule.org',
  '/api/openapi/v3',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/apis/id.vestibule.org/v1beta1',
  '/version',
  ...mounts.flatMap((mount) => [
    mount,
    `${mount}/policies`,
    `${mount}/policies?limit=1`,
    `${mount}/policies/p-1`,
    `${mount}/appearances`,
    `${mount}/appearances/default`,
  ]),
];
const isDocument = (path: string): boolean => !/policies|appearances/.test(path);

/** What a browser sends with a read by another page. */
const pages: readonly Record<string, string>[] = [
  { origin: evil, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' },
  { origin: 'https://other.localhost', 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
  { origin: 'null', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
  { origin: evil },
];

/** A body without the revision of a list, which what is recorded in the background moves on. */
const withoutRevision = ({ bytes }: Answer): string =>
  bytes.toString().replace(/(?<=^.{0,200}List".{0,100}"resourceVersion":)"\d+"/, '""');

describe.each(stores)('what other sites’ pages read, on %s', (store) => {
  let front: Fronted;
  let operator: Tab;
  let token: string;
  beforeAll(async () => {
    front = await startFronted({ store, flags: ['--operators', 'op@example.test'] });
    await createClient(front.service, 'app');
    operator = (await signIn(front.service, 'op@example.test')).tab;
    token = await tokenOf(front.service, operator);
  });
  afterAll(stopAll);

  const corsOf = (headers: object): [string, unknown][] =>
    Object.entries(headers).filter(([name]) => name.startsWith('access-control-'));
  const open = [['access-control-allow-origin', '*']];

  test.each(readable)('%s is seen by every page, without credentials', async (path) => {
    const own = await front.service.tab().get(path).is(200);
    for (const headers of [...pages, {}]) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await front.service.tab().send(method, path, { plain: true, headers });
        expectFor([headers, method], [answer.code, corsOf(answer.headers)]).toEqual([200, open]);
        expect(answer.headers['cross-origin-resource-policy']).toBe('same-origin');
        expect(answer.headers['set-cookie']).toBeUndefined();
        if (method === 'GET') expect(withoutRevision(answer)).toBe(withoutRevision(own));
      }
    }
  });

  test.each(readable)('%s with credentials is refused to other sites’ pages', async (path) => {
    for (const headers of pages.filter((page) => 'sec-fetch-site' in page)) {
      for (const credential of [
        { cookie: 'other=1' },
        { cookie: '' },
        { authorization: `Bearer ${token}` },
        { authorization: 'Bearer bad' },
      ]) {
        await front.service
          .tab()
          .get(path, { plain: true, headers: { ...headers, ...credential } })
          .fails(403, 'Forbidden');
      }
    }
    for (const page of pages.filter((page) => 'sec-fetch-site' in page)) {
      await operator.get(path, { plain: true, headers: page }).fails(403, 'Forbidden');
    }
    // What depends on the caller is not for every page, though a program may have sent its request.
    const byCookie = await operator.get(path).is(200);
    const byToken = await front.service
      .tab()
      .get(path, { plain: true, headers: { authorization: `Bearer ${token}` } })
      .is(200);
    const byProxy = await front.caller(front.proxy, master).get(path, { plain: true }).is(200);
    for (const { headers } of [byCookie, byToken, byProxy]) {
      expect(corsOf(headers)).toEqual(isDocument(path) ? open : []);
    }
  });

  test('what is not public is refused to other sites’ pages', async () => {
    for (const { resource, isPublic, verbs } of kinds) {
      for (const mount of mounts) {
        for (const headers of pages.filter((page) => 'sec-fetch-site' in page)) {
          const at = `${mount}/${resource}`;
          const reads = [
            ...(isPublic || !verbs.includes('list') ? [] : [at]),
            ...(isPublic || !verbs.includes('get') ? [] : [`${at}/x`]),
            ...(verbs.includes('watch') ? [`${at}?watch=true`, `${mount}/watch/${resource}`] : []),
          ];
          for (const path of [...reads, '/api/v1/events', '/api/v1/namespaces?watch=true']) {
            const refused = await front.service
              .tab()
              .get(path, { plain: true, headers })
              .fails(403, 'Forbidden');
            expectFor(path, [corsOf(refused.headers), refused.message]).toEqual([
              [],
              'pages of other sites may read only what is public, without credentials',
            ]);
          }
        }
      }
    }
    expect(
      kinds
        .filter(({ isPublic }) => isPublic)
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['Appearance', 'Policy']);
  });

  test('nothing may be changed, and no other header sent', async () => {
    for (const path of ['/api', `${mounts[0]}/policies`, `${mounts[0]}/appearances/default`]) {
      for (const headers of pages) {
        const preflight = await front.service.tab().send('OPTIONS', path, {
          plain: true,
          headers: {
            ...headers,
            'access-control-request-method': 'GET',
            'access-control-request-headers': 'authorization',
          },
        });
        expectFor(path, [preflight.code, corsOf(preflight.headers)]).toEqual([405, []]);
      }
    }
    for (const headers of pages) {
      await front.service
        .tab()
        .post(`${mounts[0]}/policies`, { spec: { cedar: '' } }, { plain: true, headers })
        .fails(403, 'Forbidden');
    }
  });
});
