import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectFor } from '../../support/expect-for.js';
import { RawSocket } from '../../support/network/socket.js';
import { Stream } from '../../support/network/stream.js';
import { signIn } from '../../support/people/signin.js';
import type { Pending, Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';

let service: TestService;
let operator: Tab;
beforeAll(async () => {
  service = await startTest({
    flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
  });
  await createClient(service, 'app');
  operator = (await signIn(service, 'op@example.test')).tab;
});
afterAll(stopAll);

describe('known parameters that are malformed', () => {
  const wrong = [
    'timeout=abc',
    'timeout=5',
    'timeout=5s5',
    'timeoutSeconds=abc',
    'timeoutSeconds=-1',
    'timeoutSeconds=1.5',
    'timeoutSeconds=2147483648',
    'limit=abc',
    'limit=2147483648',
    'gracePeriodSeconds=soon',
    'watch=true&watch=true',
  ];

  test.each(['clients', 'clients/app', 'clients?watch=true', 'clients/app?watch=true'])(
    'GET %s is 400 and names each',
    async (path) => {
      for (const query of wrong) {
        if (path.includes('?') && query.startsWith('watch')) continue;
        const { message } = await operator
          .get(`${path}${path.includes('?') ? '&' : '?'}${query}`)
          .fails(400, 'BadRequest');
        expect(message).toContain(
          query.startsWith('timeout=')
            ? 'invalid timeout specified in the request URL'
            : query.split('=')[0],
        );
      }
    },
  );

  test('those that mean something, nothing, or nothing here pass', async () => {
    for (const query of [
      'watch=false',
      'watch=0',
      'timeout=1m30.5s',
      'timeout=0',
      'timeout=0s',
      'timeoutSeconds=5',
      'resourceVersion=',
      'continue=',
      'labelSelector=',
      'fieldSelector=',
      'fieldManager=',
      'allowWatchBookmarks=1',
      'pretty=maybe',
      'unknown=1&unknown=2',
      'gracePeriodSeconds=-1',
      'fieldManager=kubectl',
      `fieldManager=${'x'.repeat(129)}`,
    ]) {
      for (const path of ['clients', 'clients/app']) {
        expectFor(query, (await operator.get(`${path}?${query}`)).code).toEqual(200);
      }
    }
  });

  test('one that is empty is 400 everywhere and changes nothing', async () => {
    const choices = [
      'dryRun',
      'fieldValidation',
      'propagationPolicy',
      'gracePeriodSeconds',
      'timeoutSeconds',
      'timeout',
      'limit',
      'resourceVersionMatch',
      'includeObject',
    ];
    for (const name of choices) {
      for (const spelled of [name, `${name}=`]) {
        const refused = async (answer: Pending) =>
          expect((await answer.fails(400, 'BadRequest')).message).toBe(`${name} must have a value`);
        for (const path of [
          'clients',
          'clients/app',
          '/apis/id.vestibule.org/v1beta1/clients',
          '/api',
          '/apis',
          '/version',
          '/openapi/v3',
          '/livez',
        ]) {
          await refused(operator.get(`${path}?${spelled}`));
        }
        await refused(
          operator.patch(`clients/app?${spelled}`, { spec: { displayName: 'changed' } }),
        );
        await refused(
          operator.post(`clients?${spelled}`, {
            metadata: { name: 'empty' },
            spec: { displayName: 'x' },
          }),
        );
        await refused(
          operator.post(`accounts/~/passkeychallenge?${spelled}`, {
            spec: { purpose: 'Register' },
          }),
        );
        await refused(operator.delete(`clients/app?${spelled}`));
        await refused(operator.delete(`sessions?${spelled}`));
      }
    }
    for (const name of ['labelSelector', 'fieldSelector']) {
      for (const blank of ['', '%20', '+', '%09%0a', '%C2%A0']) {
        await operator.delete(`sessions?${name}=${blank}`).fails(400, 'BadRequest');
      }
    }
    expect((await operator.get('clients/app').is(200)).body.spec.displayName).toBe('app app');
    await operator.get('clients/empty').fails(404, 'NotFound');
    await operator.get('sessions/~').is(200);
  });

  test('a timeout that is none is 400 wherever it is sent', async () => {
    for (const timeout of ['invalid', '5', '-5s', '1e3s', 's', '5%20s', '%2B', '9'.repeat(70)]) {
      for (const path of [
        'clients',
        'clients/app?watch=true',
        '/api',
        '/apis/id.vestibule.org',
        '/version',
        '/openapi/v2',
        '/readyz',
        '/account',
      ]) {
        const { message } = await operator
          .get(`${path}${path.includes('?') ? '&' : '?'}timeout=${timeout}`)
          .fails(400, 'BadRequest');
        expect(message).toBe('invalid timeout specified in the request URL');
      }
    }
  });

  test('a field manager that is too long or unprintable is 422', async () => {
    for (const manager of ['x'.repeat(129), 'a%00b', 'a%0ab']) {
      await operator
        .patch(`clients/app?fieldManager=${manager}`, { spec: { displayName: 'changed' } })
        .fails(422, 'Invalid', 'fieldManager');
      await operator
        .post(`clients?fieldManager=${manager}`, {
          metadata: { name: 'managed' },
          spec: { displayName: 'x' },
        })
        .fails(422, 'Invalid', 'fieldManager');
    }
    await operator.patch(`clients/app?fieldManager=${'%C3%A9'.repeat(128)}`, {}).is(200);
    expect((await operator.get('clients/app').is(200)).body.spec.displayName).toBe('app app');
  });

  test('a resourceVersion that is no number is 400 on reads and 422 on a watch', async () => {
    for (const version of ['x', '-1', '01', '1e3', '99999999999999999']) {
      await operator.get(`clients/app?resourceVersion=${version}`).fails(400, 'BadRequest');
      await operator.get(`clients?resourceVersion=${version}`).fails(400, 'BadRequest');
      await operator
        .get(`clients?watch=true&resourceVersion=${version}`)
        .fails(422, 'Invalid', 'resourceVersion');
    }
  });
});

describe('who may ask is settled before what is wrong with the query', () => {
  const wrong = [
    'timeoutSeconds=2147483648',
    'limit=abc',
    'limit=2147483648',
    'limit=',
    'watch=true&watch=true',
    'timeout=invalid',
    'dryRun=',
    'labelSelector=((',
    'fieldSelector=nonsense',
    'resourceVersion=x',
    'resourceVersionMatch=Bogus',
    'continue=x',
    'includeObject=bogus',
  ];
  const asTable = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } };

  test('without credentials it is 401, for a caller who may not ask 403, for others 400', async () => {
    const { tab: ada } = await signIn(service, 'ada@example.test');
    for (const query of wrong) {
      for (const path of ['clients', 'clients/app', 'groups', 'sessions']) {
        const { code } = await service.tab().get(`${path}?${query}`, asTable);
        expectFor([path, query], code).toEqual(path.includes('/') ? expect.any(Number) : 401);
        expect(code).not.toBe(400);
      }
      for (const path of ['clients', 'groups']) {
        expectFor([path, query], (await ada.get(`${path}?${query}`, asTable)).code).toEqual(403);
      }
      expectFor(query, (await ada.get(`sessions?${query}`, asTable)).code).toEqual(
        query === 'resourceVersionMatch=Bogus' ? 422 : 400,
      );
      if (!['resourceVersionMatch=Bogus'].includes(query)) {
        expectFor(query, (await operator.get(`clients?${query}`, asTable)).code).toEqual(400);
      }
      expectFor(
        query,
        (
          await service
            .tab()
            .get(`clients?${query}`, { plain: true, headers: { authorization: 'Bearer bad' } })
        ).code,
      ).toEqual(401);
    }
    expect((await service.tab().delete('sessions?labelSelector=')).code).toBe(401);
  });
});

describe('a timeout', () => {
  test('that is over before the answer is a 504, which ends the connection', async () => {
    const { metadata } = (await operator.get('clients').is(200)).body;
    const { headers, message } = await operator
      .get(`clients/app?resourceVersion=${Number(metadata.resourceVersion) + 1_000}&timeout=50ms`)
      .fails(504, 'Timeout');
    expect([headers.connection, message]).toEqual([
      'close',
      'the request was not answered within its timeout; it is not known whether a change was made',
    ]);
    const raw = new RawSocket(service.url).send(
      [
        'POST /api/v1beta1/clients?timeout=0.05s HTTP/1.1',
        `Host: ${new URL(service.baseURL).host}`,
        `Cookie: ${operator.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')}`,
        `Origin: ${service.baseURL}`,
        'Content-Type: application/json',
        'Content-Length: 100',
      ],
      '{',
    );
    await raw.until(({ closed }) => closed);
    expect(raw.text).toMatch(/^HTTP\/1\.1 504 [^]*"reason":"Timeout"/);
  });

  test('that is longer than the answer takes changes nothing of it', async () => {
    for (const timeout of ['1h2m3.5s', '100h', '60000ms', '+32s']) {
      for (const path of ['clients/app', 'clients', '/apis', '/openapi/v3', '/livez']) {
        await operator.get(`${path}?timeout=${encodeURIComponent(timeout)}`).is(200);
      }
    }
  });

  test('ends a watch, cleanly, where it comes before timeoutSeconds', async () => {
    for (const query of [
      'timeout=100ms',
      'timeout=100ms&timeoutSeconds=600',
      'timeout=10m&timeoutSeconds=1',
    ]) {
      const stream = await new Stream(
        operator,
        `clients?watch=true&resourceVersion=0&${query}`,
      ).until(({ ended }) => ended);
      expect([stream.code, stream.clean]).toEqual([200, true]);
    }
  });
});

describe('the resourceVersion of a GET of one object', () => {
  test('one that comes while it waits is answered with what is there then', async () => {
    const { metadata } = (await operator.get('clients').is(200)).body;
    const asked = Number(metadata.resourceVersion) + 3;
    const waiting = Promise.resolve(operator.get(`clients/app?resourceVersion=${asked}`));
    const versions: number[] = [];
    for (let i = 0; i < 3; i += 1) {
      const patched = await operator
        .patch('clients/app', { spec: { displayName: `later ${i}` } })
        .is(200);
      versions.push(Number(patched.body.metadata.resourceVersion));
    }
    const answer = await waiting;
    expect(answer.code).toBe(200);
    // Other commits, of what was decided, bring the version nearer too.
    const seen = versions.indexOf(Number(answer.body.metadata.resourceVersion));
    expect(answer.body.spec.displayName).toBe(`later ${seen}`);
    expect(seen).toBeGreaterThanOrEqual(versions.findLastIndex((version) => version <= asked));
    expect(seen).toBeGreaterThanOrEqual(0);
    await operator.patch('clients/app', { spec: { displayName: 'app app' } }).is(200);
  });

  test('a watch of one object is untouched by it', async () => {
    const { body } = await operator.get('clients/app').is(200);
    const stream = new Stream(
      operator,
      `clients/app?watch=true&resourceVersion=${body.metadata.resourceVersion}`,
    );
    await operator.patch('clients/app', { metadata: { labels: { a: 'b' } } }).is(200);
    await stream.until(({ events }) => events.length === 1);
    expect(stream.events[0]!.type).toBe('MODIFIED');
    stream.close();
  });
});

describe('a token is judged wherever it is sent', () => {
  test('what a front proxy says of a user is accepted from no one else', async () => {
    const remote = {
      'x-remote-user': 'root',
      'x-remote-group': 'system:masters',
      'x-remote-uid': '1',
      'x-remote-extra-scopes': 'all',
    };
    await service.tab().get('clients', { plain: true, headers: remote }).fails(401, 'Unauthorized');
    await service
      .tab()
      .get('clients', { plain: true, headers: { ...remote, authorization: 'Bearer bad' } })
      .fails(401, 'Unauthorized');
    const me = (await operator.get('accounts/~').is(200)).body;
    expect((await operator.get('accounts/~', { headers: remote }).is(200)).body).toEqual(me);
  });

  test('a bad one is 401 on documents, pages and assets, not for health', async () => {
    const stale = service.tab();
    stale.cookies = [
      { name: 'vestibule-session', value: 'gone', path: '/' },
      { name: 'vestibule-session.sig', value: 'x', path: '/' },
    ];
    for (const path of [
      '/api',
      '/api/v1beta1',
      '/api/openapi/v3',
      '/apis',
      '/openapi/v3',
      '/version',
      '/mailbox',
      '/',
    ]) {
      for (const authorization of ['Bearer bad', 'Basic eDp5', '']) {
        expect(
          (
            await service
              .tab()
              .get(path, { plain: true, headers: { authorization } })
              .fails(401, 'Unauthorized')
          ).headers['www-authenticate'],
        ).toBe('Bearer');
      }
      await service
        .tab()
        .get(path, { headers: { authorization: 'Bearer bad' } })
        .fails(403, 'Forbidden');
      await service
        .tab()
        .get(path, { plain: true, headers: { 'impersonate-user': 'root' } })
        .fails(403, 'Forbidden');
      expect((await stale.get(path)).code).toBeLessThan(400);
    }
    for (const path of ['/livez', '/readyz', '/healthz']) {
      expect(
        (
          await service.tab().get(path, {
            plain: true,
            headers: { authorization: 'Bearer bad', 'impersonate-user': 'root' },
          })
        ).code,
      ).toBe(200);
    }
    expect(
      (
        await service
          .tab()
          .get('/oauth2/userinfo', { plain: true, headers: { authorization: 'Bearer bad' } })
      ).body.error,
    ).toBe('invalid_token');
  });
});
