import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { methodOf } from '../../../apiserver/request/verbs.js';
import { actions, kinds } from '../../../kinds/index.js';
import { expectFor } from '../../support/expect-for.js';
import { tokenOf } from '../../support/people/device.js';
import { begin, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';

const evil = 'https://evil.test';
let service: TestService;

beforeAll(async () => {
  service = await startTest({
    flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
  });
  await createClient(service, 'app');
});
afterAll(stopAll);

const mails = async (): Promise<number> =>
  (await service.tab().get('mockmessages').is(200)).body.items.length;
const challenge = { spec: { email: 'ada@example.test' } };

describe('what another site’s page sends', () => {
  let tab: Tab;
  let I: string;
  beforeEach(async () => {
    ({ tab, I } = await begin(service));
    await service.tab().delete('mockmessages').is(200);
  });

  test.each(['cross-site', 'same-site', 'Same-Origin', 'nonsense', ''])(
    'a change with Sec-Fetch-Site %p is 403 and no mail is sent',
    async (site) => {
      await tab
        .post(`${I}/emailchallenge`, challenge, { headers: { 'sec-fetch-site': site } })
        .fails(403, 'Forbidden');
      expect(await mails()).toBe(0);
    },
  );

  test('two values of Sec-Fetch-Site or of Origin are 403', async () => {
    await tab
      .post(`${I}/emailchallenge`, challenge, {
        headers: { 'sec-fetch-site': ['same-origin', 'same-origin'] },
      })
      .fails(403, 'Forbidden');
    await tab
      .post(`${I}/emailchallenge`, challenge, {
        headers: { 'sec-fetch-site': undefined, origin: [service.baseURL, evil] },
      })
      .fails(403, 'Forbidden');
  });

  test('without Sec-Fetch-Site the origin must be ours to the byte', async () => {
    const { port } = new URL(service.baseURL);
    for (const origin of [
      evil,
      service.baseURL.replace(port, '1'),
      service.baseURL.replace('http:', 'https:'),
      'null',
      '',
      `${service.baseURL}/`,
      service.baseURL.toUpperCase(),
    ]) {
      await tab
        .post(`${I}/emailchallenge`, challenge, {
          headers: { 'sec-fetch-site': undefined, 'sec-fetch-mode': undefined, origin },
        })
        .fails(403, 'Forbidden');
    }
    expect(await mails()).toBe(0);
    await tab
      .post(`${I}/emailchallenge`, challenge, {
        headers: { 'sec-fetch-site': undefined, origin: service.baseURL },
      })
      .is(200);
    const second = await begin(service);
    await second.tab.post(`${second.I}/emailchallenge`, challenge, { plain: true }).is(200);
  });

  test('same-origin with a foreign Origin is 403, with null it passes', async () => {
    await tab
      .post(`${I}/emailchallenge`, challenge, { headers: { origin: evil } })
      .fails(403, 'Forbidden');
    await tab
      .post(`${I}/emailchallenge`, challenge, {
        headers: { 'sec-fetch-site': 'none', origin: 'null' },
      })
      .fails(403, 'Forbidden');
    await tab.post(`${I}/emailchallenge`, challenge, { headers: { origin: 'null' } }).is(200);
    const second = await begin(service);
    await second.tab
      .post(`${second.I}/emailchallenge`, challenge, {
        headers: { 'sec-fetch-site': 'none', origin: undefined },
      })
      .is(200);
  });

  test('a token that fetch of Node sends is accepted', async () => {
    const { tab: signedIn } = await signIn(service, 'program@example.test');
    const authorization = `Bearer ${await tokenOf(service, signedIn)}`;
    const answer = await fetch(`${service.url}/apis/id.vestibule.org/v1beta1/accounts/~`, {
      headers: { authorization },
    });
    expect([answer.status, ((await answer.json()) as { kind: string }).kind]).toEqual([
      200,
      'Account',
    ]);
    for (const [name, value] of [
      ['sec-fetch-mode', 'cors'],
      ['sec-fetch-dest', 'empty'],
      ['sec-fetch-user', '?1'],
      ['sec-fetch-storage-access', 'none'],
    ]) {
      await service
        .tab()
        .get('accounts/~', { plain: true, headers: { authorization, [name!]: value! } })
        .is(200);
    }
    for (const [name, value] of [
      ['sec-fetch-site', 'none'],
      ['sec-fetch-site', 'same-origin'],
      ['sec-fetch-site', ''],
    ]) {
      await service
        .tab()
        .get('accounts/~', { plain: true, headers: { authorization, [name!]: value! } })
        .fails(403, 'Forbidden');
    }
  });

  test('a bearer token with Sec-Fetch-Site is 403, without it and bad it is 401', async () => {
    await tab
      .get('accounts', {
        plain: true,
        headers: { authorization: 'Bearer x', 'sec-fetch-site': 'same-origin' },
      })
      .fails(403, 'Forbidden');
    for (const origin of [undefined, service.baseURL, evil]) {
      await service
        .tab()
        .get('accounts', { plain: true, headers: { authorization: 'Bearer x', origin } })
        .fails(401, 'Unauthorized');
    }
  });

  test('Host and forwarded headers play no part', async () => {
    await tab
      .post(`${I}/emailchallenge`, challenge, {
        headers: {
          'sec-fetch-site': undefined,
          origin: evil,
          'x-forwarded-host': 'evil.test',
        },
      })
      .fails(403, 'Forbidden');
    // While mail is mocked, another Host is a message that is not looked at further.
    for (const site of [undefined, 'same-origin']) {
      await tab
        .post(`${I}/emailchallenge`, challenge, {
          headers: { 'sec-fetch-site': site, origin: 'http://evil.test', host: 'evil.test' },
        })
        .fails(400, 'BadRequest');
    }
  });

  test('a browser’s JSON under another media type is 415', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json, text/plain',
      'application/json; charset=latin1',
      'application/json;charset',
      undefined,
    ]) {
      await tab
        .post(`${I}/emailchallenge`, challenge, { headers: { 'content-type': type } })
        .fails(415, 'UnsupportedMediaType');
    }
    expect(await mails()).toBe(0);
    await tab
      .post(`${I}/emailchallenge`, challenge, {
        headers: { 'content-type': 'Application/JSON; charset="UTF-8"' },
      })
      .is(200);
  });

  test('an action takes no GET or HEAD and no claimed method', async () => {
    for (const action of ['emailchallenge', 'login', 'consent']) {
      const { headers } = await tab.get(`${I}/${action}`).fails(405, 'MethodNotAllowed');
      expect(headers.allow).toBe('POST');
      expect((await tab.send('HEAD', `${I}/${action}`)).code).toBe(405);
    }
    for (const action of actions) {
      const path = `${action.of.resource}/${action.of.bound ? I.split('/').at(-1) : 'x'}/${action.subresource}`;
      const others = actions
        .filter((one) => one.of === action.of && one.subresource === action.subresource)
        .map(methodOf);
      if (others.includes('GET')) continue;
      for (const method of ['GET', 'HEAD']) {
        expectFor(path, (await tab.send(method, path)).headers.allow).toEqual(others.join(', '));
      }
    }
    await tab
      .post(`${I}/emailchallenge?_method=DELETE`, challenge, {
        headers: { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' },
      })
      .is(200);
    expect((await tab.get(I).is(200)).body.status.phase).toBe('LoginRequired');
  });

  test('no answer but a public one carries a CORS header; OPTIONS is 405', async () => {
    for (const path of [I, 'accounts', '/api', '/', '/oauth2/auth']) {
      for (const method of ['OPTIONS', 'GET']) {
        const answer = await tab.send(method, path, {
          plain: true,
          headers: { origin: evil, 'access-control-request-method': 'POST' },
        });
        expect(
          Object.keys(answer.headers).filter((name) => name.startsWith('access-control-')),
        ).toEqual(method === 'GET' && path === '/api' ? ['access-control-allow-origin'] : []);
        if (method === 'OPTIONS') expect(answer.code).toBe(405);
      }
    }
    expect((await tab.get(I).is(200)).headers['cross-origin-resource-policy']).toBe('same-origin');
  });

  test('a cross-site read is 403 but as a document navigation, which leads to the page', async () => {
    const { name } = { name: I.split('/').at(-1)! };
    await tab
      .get(I, {
        headers: {
          'sec-fetch-site': 'cross-site',
          'sec-fetch-mode': 'no-cors',
          'sec-fetch-dest': 'script',
        },
      })
      .fails(403, 'Forbidden');
    await tab
      .get(I, {
        headers: {
          'sec-fetch-site': 'cross-site',
          'sec-fetch-mode': 'navigate',
          'sec-fetch-dest': 'iframe',
        },
      })
      .fails(403, 'Forbidden');
    const { headers } = await tab
      .get(I, {
        headers: {
          'sec-fetch-site': 'cross-site',
          'sec-fetch-mode': 'navigate',
          'sec-fetch-dest': 'document',
        },
      })
      .is(303);
    expect(headers.location).toBe(`/interaction/${name}`);
    expect(headers.vary).toBe('Accept, Sec-Fetch-Mode');
  });
});

describe('every changing route, both mounts, each credential', () => {
  const routes = [
    ...kinds.flatMap((kind) =>
      kind.verbs.flatMap(
        (verb) =>
          (
            ({
              create: [['POST', kind.resource]],
              update: [['PUT', `${kind.resource}/x`]],
              patch: [['PATCH', `${kind.resource}/x`]],
              delete: [['DELETE', `${kind.resource}/x`]],
              deletecollection: [['DELETE', kind.resource]],
            }) as Record<string, string[][]>
          )[verb] ?? [],
      ),
    ),
    ...actions
      .filter((action) => action.verb !== 'get')
      .map((action) => [methodOf(action), `${action.of.resource}/x/${action.subresource}`]),
  ] as [string, string][];

  test.each(routes)('%s %s', async (method, path) => {
    const person = await (signedIn ??= signIn(service, 'op@example.test'));
    const before = (await person.tab.get('accounts/~').is(200)).body.metadata.resourceVersion;
    for (const mount of ['/api/v1beta1/', '/apis/id.vestibule.org/v1beta1/']) {
      for (const tab of [service.tab(), person.tab]) {
        for (const headers of [
          { 'sec-fetch-site': 'cross-site' },
          { 'sec-fetch-site': 'same-site' },
          { 'sec-fetch-site': undefined, origin: evil },
        ]) {
          await tab
            .send(method, mount + path, {
              body: '{}',
              headers: { 'content-type': 'application/json', ...headers },
            })
            .fails(403, 'Forbidden');
        }
      }
    }
    expect((await person.tab.get('accounts/~').is(200)).body.metadata.resourceVersion).toBe(before);
  });
});
let signedIn: ReturnType<typeof signIn> | undefined;
