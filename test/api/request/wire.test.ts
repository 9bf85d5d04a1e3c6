import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectFor } from '../../support/expect-for.js';
import { RawSocket } from '../../support/network/socket.js';
import { begin } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';

let service: TestService;
beforeAll(async () => {
  service = await startTest({ flags: ['--limit-factor', '1000'] });
  await createClient(service, 'app');
});
afterAll(stopAll);

describe('the provider’s addresses', () => {
  test('a method that an endpoint does not take is a 405 with Allow, to a person a page', async () => {
    for (const [method, path, allow] of [
      ['GET', '/oauth2/token', 'POST, OPTIONS'],
      ['DELETE', '/oauth2/auth', 'GET, HEAD, POST'],
      ['POST', '/oauth2/jwks', 'GET, HEAD, OPTIONS'],
      ['PUT', '/.well-known/openid-configuration', 'GET, HEAD, OPTIONS'],
      ['GET', '/oauth2/device/auth', 'POST, OPTIONS'],
      ['GET', '/oauth2/logout/confirm', 'POST'],
      ['POST', '/oauth2/auth/abc', 'GET, HEAD'],
      ['OPTIONS', '/oauth2/auth', 'GET, HEAD, POST'],
      ['OPTIONS', '/oauth2/token', 'POST, OPTIONS'],
    ] as const) {
      const { headers } = await service
        .tab()
        .send(method, path, { plain: true })
        .fails(405, 'MethodNotAllowed');
      expectFor([method, path], headers.allow).toEqual(allow);
    }
    const { headers, bytes } = await service.tab().navigate('/oauth2/token').is(405);
    expect([headers['content-type'], headers.allow]).toEqual([
      'text/html; charset=utf-8',
      'POST, OPTIONS',
    ]);
    expect(bytes.toString()).toContain('There is no such page');
  });

  test('a path that is none of them is a 404 Status; a preflight is answered', async () => {
    for (const path of [
      '/oauth2',
      '/oauth2/',
      '/oauth2/register',
      '/oauth2/token/',
      '/oauth2/TOKEN',
      '/oauth2/auth/a/b',
      '/.well-known/other',
    ]) {
      for (const method of ['GET', 'POST']) {
        await service.tab().send(method, path, { plain: true }).fails(404, 'NotFound');
      }
    }
    expect(
      (
        await service.tab().send('OPTIONS', '/oauth2/token', {
          plain: true,
          headers: { origin: 'https://app.test', 'access-control-request-method': 'POST' },
        })
      ).code,
    ).toBe(204);
  });
});

describe('methods of everything else', () => {
  test('documents, pages, assets and health are there to be read', async () => {
    for (const path of [
      '/api',
      '/api/v1beta1',
      '/api/openapi/v3',
      '/version',
      '/livez',
      '/readyz',
      '/healthz',
      '/mailbox',
      '/',
      '/assets/x.js',
    ]) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'SEARCH']) {
        const { headers, bytes } = await service
          .tab()
          .send(method, path, { plain: true, headers: { 'x-secret-echo': 'echo' } })
          .is(405);
        expectFor([path, method], headers.allow).toEqual('GET, HEAD');
        expect(bytes.toString()).not.toContain('echo');
      }
    }
    for (const path of [
      '/api',
      '/livez',
      '/mailbox',
      '/oauth2/jwks',
      '/.well-known/openid-configuration',
    ]) {
      const [get, head] = [
        await service.tab().get(path, { plain: true }),
        await service.tab().send('HEAD', path, { plain: true }),
      ];
      expectFor(path, [head.code, head.bytes.length]).toEqual([get.code, 0]);
    }
  });
});

describe('requests in flight', () => {
  test('the provider’s and pages are counted with the others, health is not', async () => {
    const small = await startTest({
      flags: [
        '--limit-factor',
        '1000',
        '--max-requests-inflight',
        '1',
        '--max-mutating-requests-inflight',
        '1',
      ],
    });
    const send = () =>
      small.tab().send('POST', '/oauth2/par', {
        plain: true,
        body: 'a=b',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    for (;;) {
      const refused = (await Promise.all(Array.from({ length: 20 }, send))).find(
        ({ code }) => code === 429,
      );
      if (!refused) continue;
      expect([refused.headers['retry-after'], refused.body.reason]).toEqual([
        '1',
        'TooManyRequests',
      ]);
      break;
    }
    expect((await small.tab().navigate('/oauth2/auth?client_id=absent')).code).toBe(400);
    expect((await small.tab().get('/livez')).code).toBe(200);
  });

  test('whose body is on its way hold no other request’s place', async () => {
    const small = await startTest({
      flags: ['--limit-factor', '1000', '--max-mutating-requests-inflight', '1'],
    });
    const slow: RawSocket[] = [];
    for (let i = 0; i < 3; i += 1) {
      slow.push(
        new RawSocket(small.url).send(
          [
            'POST /oauth2/token HTTP/1.1',
            'Host: localhost',
            'Content-Type: application/x-www-form-urlencoded',
            'Content-Length: 13',
          ],
          'a',
        ),
      );
      for (let answers = 0; answers < 3; ) {
        const { code } = await small.tab().send('POST', '/oauth2/par', {
          plain: true,
          body: 'a=b',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        });
        expect([400, 401, 429]).toContain(code);
        answers = code === 429 ? 0 : answers + 1;
      }
    }
    await slow[0]!.until(({ closed }) => closed);
    slow[2]!.socket.write('=b&client_id');
    expect((await slow[2]!.until(({ text }) => text.includes('\r\n\r\n'))).text).toMatch(
      /^HTTP\/1\.1 40[01] /,
    );
    expect([slow[0]!.text, slow[1]!.closed]).toEqual(['', false]);
    for (const one of slow) one.close();
  });
});

describe('HTTP/1.0', () => {
  test('a watch is sent without chunks and ends with its connection', async () => {
    const raw = new RawSocket(service.url).send([
      'GET /api/v1beta1/mockmessages?watch=true&timeoutSeconds=1 HTTP/1.0',
    ]);
    const { tab, I } = await begin(service);
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'old@example.test' } }).is(200);
    await raw.until(({ closed }) => closed);
    const [head, body] = raw.text.split('\r\n\r\n') as [string, string];
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect(head.toLowerCase()).toContain('connection: close');
    expect(head.toLowerCase()).not.toContain('transfer-encoding');
    expect(
      body
        .split('\n')
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as { type: string }).type),
    ).toContain('ADDED');
  });

  test('a watch over HTTP/1.1 comes in chunks', async () => {
    const raw = await new RawSocket(service.url)
      .send(['GET /api/v1beta1/mockmessages?watch=true HTTP/1.1', 'Host: localhost'])
      .until(({ text }) => text.includes('\r\n\r\n'));
    expect(raw.text.toLowerCase()).toContain('transfer-encoding: chunked');
    raw.close();
  });
});

describe('bodies that no one wants', () => {
  const head = (...lines: string[]): string[] => [
    'POST /api/v1beta1/clients HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    ...lines,
  ];

  test('what is refused is refused before it is asked for', async () => {
    for (const lines of [
      head('Content-Length: 10'),
      head('Transfer-Encoding: chunked'),
      ['POST /nowhere HTTP/1.1', 'Host: localhost', 'Content-Length: 10'],
      ['GET /oauth2/token HTTP/1.1', 'Host: localhost', 'Content-Length: 5'],
    ]) {
      const raw = await new RawSocket(service.url)
        .send([...lines, 'Expect: 100-continue'])
        .until(({ closed }) => closed);
      expect(raw.text).toMatch(/^HTTP\/1\.1 40[145] /);
      expect(raw.text).not.toContain('100 Continue');
      expect(raw.text.toLowerCase()).toContain('connection: close');
    }
    const large = await new RawSocket(service.url)
      .send([
        'DELETE /api/v1beta1/mockmessages HTTP/1.1',
        'Host: localhost',
        'Content-Type: application/json',
        'Content-Length: 999999999',
        'Expect: 100-continue',
      ])
      .until(({ closed }) => closed);
    expect(large.text).toMatch(/^HTTP\/1\.1 413 /);
    expect(large.text).not.toContain('100 Continue');
  });

  test('what is wanted is asked for once, by the API and by the provider', async () => {
    const raw = new RawSocket(service.url).send([
      'DELETE /api/v1beta1/mockmessages HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'Content-Length: 2',
      'Expect: 100-continue',
    ]);
    await raw.until(({ text }) => text.includes('100 Continue'));
    raw.socket.write('{}');
    await raw.until(({ text }) => text.includes('200 OK'));
    raw.send([
      'POST /oauth2/token HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/x-www-form-urlencoded',
      'Content-Length: 3',
      'Expect: 100-continue',
    ]);
    await raw.until(({ text }) => text.split('100 Continue').length === 3);
    raw.socket.write('a=b');
    await raw.until(({ text }) => text.includes('"invalid_request"'));
    expect(raw.text.split('100 Continue')).toHaveLength(3);
    raw.close();
  });

  test('a large one is not read to its end: the connection is closed', async () => {
    for (const lines of [head('Content-Length: 1000000000'), head('Transfer-Encoding: chunked')]) {
      const raw = await new RawSocket(service.url)
        .send(lines, '3e8\r\n')
        .until(({ closed }) => closed);
      expect(raw.text).toMatch(/^HTTP\/1\.1 401 /);
      expect(raw.text.toLowerCase()).toContain('connection: close');
    }
    const kept = new RawSocket(service.url).send(head('Content-Length: 2'), '{}');
    await kept.until(({ text }) => text.includes('401 '));
    await kept
      .send(['GET /livez HTTP/1.1', 'Host: localhost'])
      .until(({ text }) => text.endsWith('ok'));
    kept.close();
  });

  test('a form over the library’s bound ends its connection too', async () => {
    const raw = await new RawSocket(service.url)
      .send(
        [
          'POST /oauth2/token HTTP/1.1',
          'Host: localhost',
          'Content-Type: application/x-www-form-urlencoded',
          'Content-Length: 1000000000',
        ],
        'a=b',
      )
      .until(({ closed }) => closed);
    expect(raw.text.toLowerCase()).toContain('connection: close');
  });

  test('HTTP/1.0 with a transfer coding is refused', async () => {
    const raw = await new RawSocket(service.url)
      .send(
        [
          'GET /livez HTTP/1.0',
          'Host: localhost',
          'Connection: keep-alive',
          'Transfer-Encoding: chunked',
        ],
        '0\r\n\r\n',
      )
      .until(({ text }) => text.includes('\r\n\r\n'));
    expect(raw.text).toMatch(/^HTTP\/1\.1 400 [^]*connection: close/i);
  });
});
