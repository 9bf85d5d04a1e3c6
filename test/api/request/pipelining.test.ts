import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectFor } from '../../support/expect-for.js';
import fc from '../../support/fast-check.js';
import { RawSocket } from '../../support/network/socket.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

/** One request on a connection: its bytes, and whether its answer closes the connection. */
interface Sent {
  readonly text: string;
  readonly closes: boolean;
  readonly name?: string;
}

interface Sequence {
  readonly kinds: string[];
  readonly end: string;
  readonly behind: number;
  readonly cuts: number[];
}

const clients = '/api/v1beta1/clients';
const form = 'Content-Type: application/x-www-form-urlencoded';
const head = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`;

/** What is refused with an answer, or with none, that ends the connection. */
const refusals: Readonly<Record<string, string>> = {
  'no Host': head('GET /livez HTTP/1.1'),
  'a Host that is none': head('GET /livez HTTP/1.1', 'Host: a b'),
  'two Hosts': head('GET /livez HTTP/1.1', 'Host: x', 'Host: y'),
  'a body that is too large': `${head(`POST ${clients} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', 'Content-Length: 999999999')}{`,
  'a chunked body that is too large': `${head(`POST ${clients} HTTP/1.1`, 'Host: x', 'Cookie: of the operator', 'Origin: of the pages', 'Content-Type: application/json', 'Transfer-Encoding: chunked')}${`10000\r\n${' '.repeat(1 << 16)}\r\n`.repeat(20)}0\r\n\r\n`,
  'its own timeout': head(
    `GET ${clients}/app?resourceVersion=999999999999&timeout=20ms HTTP/1.1`,
    'Host: x',
    'Cookie: of the operator',
  ),
  'a header that is too large': head(
    'GET /livez HTTP/1.1',
    'Host: x',
    `X-Large: ${'x'.repeat(17 << 10)}`,
  ),
  'too many fields': head(
    'GET /livez HTTP/1.1',
    'Host: x',
    ...Array.from({ length: 201 }, (_, i) => `X-${i}: 1`),
  ),
  'a transfer coding that is not served': head(
    `POST ${clients} HTTP/1.1`,
    'Host: x',
    'Transfer-Encoding: gzip, chunked',
  ),
  'two framings': `${head(`POST ${clients} HTTP/1.1`, 'Host: x', 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
  'two lengths': `${head(`POST ${clients} HTTP/1.1`, 'Host: x', 'Content-Length: 2', 'Content-Length: 3')}{}`,
  'a broken chunk': `${head(`POST ${clients} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', 'Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`,
  'an expectation that is not known': head('GET /livez HTTP/1.1', 'Host: x', 'Expect: a-miracle'),
  'a target that is no path': head('GET http://x/livez HTTP/1.1', 'Host: x'),
  CONNECT: head('CONNECT x:443 HTTP/1.1', 'Host: x'),
  'no HTTP': 'HELLO\r\n\r\n',
  'another version of HTTP': head('GET /livez HTTP/1.2', 'Host: x'),
  'the end of the connection': head('GET /livez HTTP/1.1', 'Host: x', 'Connection: close'),
  'HTTP/1.0': head('GET /livez HTTP/1.0'),
  'HTTP/1.0 with a transfer coding': `${head(`POST ${clients} HTTP/1.0`, 'Host: x', 'Connection: keep-alive', 'Content-Type: application/json', 'Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\n\r\n`,
  'HTTP/1.0 with a transfer coding and a length': `${head(`POST ${clients} HTTP/1.0`, 'Host: x', 'Connection: keep-alive', 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
  'HTTP/1.0 with a transfer coding at a health check': `${head('GET /livez HTTP/1.0', 'Host: x', 'Connection: keep-alive', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
  'a Host that is not served': head('GET /api HTTP/1.1', 'Host: evil.test'),
  'a Host that is not served, at no path of ours': head('GET /none HTTP/1.1', 'Host: evil.test'),
  'a Host that is not served, with a body': `${head(`POST ${clients} HTTP/1.1`, 'Host: evil.test', 'Content-Type: application/json', 'Content-Length: 2')}{}`,
  'a Host that is not served, by HTTP/1.0': head(
    'GET /api HTTP/1.0',
    'Host: evil.test',
    'Connection: keep-alive',
  ),
};

/** Hosts that are not a host and a port (RFC 9110 §7.2). */
const malformedHosts = [
  'a b',
  'a,b',
  'a@b',
  'a/b',
  'a:b',
  'a:1:2',
  'a:65536',
  'a:123456',
  'a:-1',
  'a%',
  'a%zz',
  '[',
  '[]',
  '[::1',
  '::1',
  '[::1]x',
  '[::1]:x',
  '[1.2.3.4]',
  '[::1%25lo]',
  '[v1.x]',
  'a[::1]',
  'a]',
];

describe.each(stores)('requests that come without waiting for an answer, on %s', (store) => {
  let service: TestService;
  let tab: Tab;
  let cookie: string;
  let made = 0;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--secure-port', '0', '--limit-factor', '10000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    ({ tab } = await signIn(service, 'op@example.test'));
    cookie = tab.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  });

  const creation = (): Sent => {
    const name = `made-${(made += 1)}`;
    const body = JSON.stringify({
      metadata: { name },
      spec: { displayName: name, type: 'Public' },
    });
    const text = `${head(`POST ${clients} HTTP/1.1`, `Host: ${host()}`, `Cookie: ${cookie}`, `Origin: ${service.baseURL}`, 'Content-Type: application/json', `Content-Length: ${body.length}`)}${body}`;
    return { text, closes: false, name };
  };
  const reading = (): Sent => ({ text: head('GET /livez HTTP/1.1', 'Host: x'), closes: false });
  const host = (): string => new URL(service.baseURL).host;
  const refused = (why: string): Sent => ({
    text: refusals[why]!.replaceAll('Host: x\r\n', `Host: ${host()}\r\n`)
      .replaceAll('Cookie: of the operator\r\n', `Cookie: ${cookie}\r\n`)
      .replaceAll('Origin: of the pages\r\n', `Origin: ${service.baseURL}\r\n`),
    closes: true,
  });
  const names = async (): Promise<Set<string>> =>
    new Set(
      (await tab.get('clients').is(200)).body.items.map(
        (item: { metadata: { name: string } }) => item.metadata.name,
      ),
    );

  /**
   * Sends it all, cut at random, and waits for the end of the connection; then every creation
   * before the first refusal has been made, and none behind it.
   */
  async function sendAll(
    base: string,
    requests: readonly Sent[],
    cuts: readonly number[],
  ): Promise<RawSocket> {
    const text = requests.map((request) => request.text).join('');
    const raw = new RawSocket(base);
    let from = 0;
    for (const to of [...cuts.map((cut) => cut % text.length).sort((a, b) => a - b), text.length]) {
      if (raw.socket.writable) raw.socket.write(text.slice(from, to), 'latin1');
      from = to;
      await new Promise(setImmediate);
    }
    await raw.until(({ closed }) => closed, 20_000);
    const end = requests.findIndex(({ closes }) => closes);
    const held = await names();
    requests.forEach(({ name }, i) => {
      if (name !== undefined) expectFor([i, end], held.has(name)).toEqual(i < end);
    });
    return raw;
  }

  const requestOf = (kind: string): Sent => {
    if (kind === 'create') return creation();
    return kind === 'read' ? reading() : refused(kind);
  };
  const request = fc.oneof(
    { weight: 4, arbitrary: fc.constant('create') },
    { weight: 1, arbitrary: fc.constant('read') },
    { weight: 1, arbitrary: fc.constantFrom(...Object.keys(refusals)) },
  );
  const sequence = fc.record({
    kinds: fc.array(request, { maxLength: 6 }),
    end: fc.constantFrom(...Object.keys(refusals)),
    behind: fc.nat(2),
    cuts: fc.array(fc.nat(100_000), { maxLength: 3 }),
  });

  test.each(['plain', 'TLS'])(
    'nothing behind a refusal is carried out, and everything before it is, by %s',
    async (how) => {
      const base = how === 'TLS' ? service.secureURL! : service.url;
      await fc.assert(
        fc.asyncProperty(sequence, async ({ kinds, end, behind, cuts }) => {
          const sent = [
            ...kinds.map(requestOf),
            refused(end),
            ...Array.from({ length: behind }, creation),
          ];
          await sendAll(base, sent, cuts);
        }),
        {
          numRuns: 40,
          examples: Object.keys(refusals).map((end): [Sequence] => [
            { kinds: ['create', 'create'], end, behind: 1, cuts: [] },
          ]),
        },
      );
    },
    240_000,
  );

  test('answers come in the order of the requests, the refusal last', async () => {
    const { text } = await sendAll(
      service.url,
      [creation(), reading(), creation(), refused('no HTTP'), creation()],
      [],
    );
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual([
      'HTTP/1.1 201',
      'HTTP/1.1 200',
      'HTTP/1.1 201',
      'HTTP/1.1 400',
    ]);
  });

  test('a thousand at once are answered one after another', async () => {
    const { text } = await sendAll(
      service.url,
      [...Array.from({ length: 1_000 }, reading), creation(), refused('no Host')],
      [],
    );
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(1_000);
    expect(text.match(/HTTP\/1\.1 \d+/g)!.slice(-2)).toEqual(['HTTP/1.1 201', 'HTTP/1.1 400']);
  });
});

describe.each([
  ['mocked', 'mock'],
  ['sent', 'smtp://127.0.0.1:9'],
])('while mail is %s', (_, mail) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ mail });
  });
  const codesOf = async (...requests: string[]): Promise<string[]> => {
    const raw = new RawSocket(service.url);
    raw.socket.write(requests.join(''));
    await raw.until(({ closed }) => closed);
    return [...raw.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code!);
  };
  const last = (): string =>
    head('GET /livez HTTP/1.1', `Host: ${new URL(service.baseURL).host}`, 'Connection: close');

  test.each(malformedHosts)('Host %j is refused, and nothing behind it runs', async (host) => {
    for (const version of ['1.1', '1.0']) {
      for (const path of ['/api/v1beta1/mockmessages', '/oauth2/auth', '/account', '/livez']) {
        const lines = [`GET ${path} HTTP/${version}`, `Host: ${host}`, 'Connection: keep-alive'];
        expectFor(path, await codesOf(head(...lines), last())).toEqual(['400']);
      }
    }
  });

  test.each(['localhost', 'localhost:1', 'LOCALHOST', '127.0.0.1:', '[::1]', '[::1]:8080'])(
    'Host %j is served, and what is behind it runs',
    async (host) => {
      const lines = ['GET /api HTTP/1.1', `Host: ${host}`];
      expect(await codesOf(head(...lines), last())).toEqual(['200', '200']);
    },
  );
});

describe('a connection on which no request comes', () => {
  test('is closed without a word; one with part of a request gets a 408', async () => {
    // By the time of a request, and by that of a connection that is idle.
    const services = await Promise.all(
      ['10s', '60s'].map((time) =>
        startTest({ flags: ['--secure-port', '0', '--limits-request-timeout', time] }),
      ),
    );
    const refuses = async (service: TestService, base: string): Promise<void> => {
      const { host } = new URL(service.baseURL);
      const silent = new RawSocket(base);
      const begun = new RawSocket(base);
      begun.socket.write('GET /livez HTTP/1.1\r\n');
      const second = new RawSocket(base).send(['GET /livez HTTP/1.1', `Host: ${host}`]);
      await second.until(({ text }) => text.endsWith('ok'));
      second.socket.write('GET ');
      const stalled = new RawSocket(base);
      stalled.socket.write(
        head('POST /oauth2/token HTTP/1.1', `Host: ${host}`, form, 'Content-Length: 9'),
      );
      const all = [silent, begun, second, stalled];
      await Promise.all(all.map((one) => one.until(({ closed }) => closed, 40_000)));
      expect(silent.text).toBe('');
      for (const one of [begun, second, stalled]) {
        expect(one.text).toMatch(
          /HTTP\/1\.1 408 Request Timeout\r\n[^]*"reason":"RequestTimeout","code":408\}$/,
        );
      }
      for (const one of [begun, stalled]) {
        expect(service.logs.join('')).toContain(/Audit-ID: (\S+)/.exec(one.text)![1]!);
      }
    };
    await Promise.all(
      services.flatMap((service) =>
        [service.url, service.secureURL!].map((base) => refuses(service, base)),
      ),
    );
    for (const { logs } of services) {
      expect(
        logs.filter((line) => line.includes('"connection closed before a request came"')),
      ).toHaveLength(2);
    }
  });

  test('that was answered before the rest of its request is closed', async () => {
    const service = await startTest({ flags: ['--limits-request-timeout', '10s'] });
    const { host } = new URL(service.baseURL);
    const refused = head(`POST ${clients} HTTP/1.1`, `Host: ${host}`, form, 'Content-Length: 9');
    const chunked = refused.replace('Content-Length: 9', 'Transfer-Encoding: chunked');
    const stalled = new RawSocket(service.url);
    stalled.socket.write(refused);
    const broken = new RawSocket(service.url);
    broken.socket.write(chunked);
    await broken.until(({ text }) => text.endsWith('}'));
    broken.socket.write('zz\r\n');
    for (const one of [stalled, broken]) {
      await one.until(({ closed }) => closed, 40_000);
      expect(one.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
    }
  });
});
