import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectFor } from '../../support/expect-for.js';
import { authorizationPath, begin } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';

/** The pages with a path of their own: sign-ins are below /interaction. */
const pages = readdirSync(join(import.meta.dirname, '../../../ui'))
  .filter((file) => file.endsWith('.html') && file !== 'signin.html')
  .map((file) => file.replace('.html', ''));

let service: TestService;
beforeAll(async () => {
  service = await startTest({ flags: ['--limit-factor', '1000'] });
  await createClient(service, 'app');
});
afterAll(stopAll);

/** The content type that an asset must have. */
function typeOf(path: string): RegExp {
  if (path.endsWith('.css')) return /^text\/css/;
  return path.endsWith('.js') ? /^text\/javascript/ : /^(image\/|application\/json)/;
}

function decoded(bytes: Buffer, coding: 'br' | 'gzip' | undefined): Buffer {
  if (coding === 'br') return brotliDecompressSync(bytes);
  return coding ? gunzipSync(bytes) : bytes;
}

describe('documents and assets', () => {
  test.each(['/api', '/api/v1beta1', '/api/openapi/v3', '/apis', '/openapi/v2', '/version'])(
    '%s has an ETag, and 304 answers a caller that has it already',
    async (path) => {
      const tab = service.tab();
      const first = await tab.get(path).is(200);
      expect(first.headers.etag).toMatch(/^"[^"]+"$/);
      expect(first.headers['cache-control']).toMatch(/^public/);
      expect(Number(first.headers['content-length'])).toBe(first.bytes.length);
      const again = await tab
        .get(path, { headers: { 'if-none-match': first.headers.etag! } })
        .is(304);
      expect([again.bytes.length, again.headers.etag, again.headers['cache-control']]).toEqual([
        0,
        first.headers.etag,
        first.headers['cache-control'],
      ]);
      expect(
        (await tab.get(path, { headers: { 'if-none-match': '"other"' } }).is(200)).bytes.equals(
          first.bytes,
        ),
      ).toBe(true);
      const head = await tab.send('HEAD', path).is(200);
      expect([head.bytes.length, head.headers.etag, head.headers['content-length']]).toEqual([
        0,
        first.headers.etag,
        first.headers['content-length'],
      ]);
    },
  );

  test('the documents are the same for everybody, without host, person or secret', async () => {
    const [one, two] = [
      await service.tab().get('/api/openapi/v3').is(200),
      await (await begin(service)).tab
        .get('/api/openapi/v3', { headers: { host: '127.0.0.1:1' } })
        .is(200),
    ];
    expect(two.bytes.equals(one.bytes)).toBe(true);
    expect(one.bytes.toString()).not.toMatch(/127\.0\.0\.1|localhost/);
    expect(one.body.openapi).toBe('3.1.0');
    expect(one.bytes.toString()).not.toMatch(/"internal":|recordKey|credentialID|publicKey"/);
    const { Account, AccountList } = one.body.components.schemas;
    expect(JSON.stringify([Account, AccountList])).not.toContain('userHandle');
  });

  test('the library’s documents may be kept for five minutes', async () => {
    for (const path of ['/.well-known/openid-configuration', '/oauth2/jwks']) {
      const { headers, bytes } = await service.tab().get(path, { plain: true }).is(200);
      expect(headers['cache-control']).toBe('public, max-age=300');
      expect(bytes.toString()).not.toMatch(/"d":|"p":|"q":/);
    }
  });

  test('assets never change, have a type of their own and all headers of a page', async () => {
    const tab = service.tab();
    const page = await tab.navigate('/mailbox').is(200);
    const shell = page.bytes.toString();
    const assets = [
      ...new Set([...shell.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path!)),
    ];
    expect(assets.length).toBeGreaterThan(1);
    for (const path of assets) {
      const { headers, bytes } = await tab.get(path).is(200);
      expectFor(path, headers['cache-control']).toEqual('public, max-age=31536000, immutable');
      expect(headers['content-type']).toMatch(typeOf(path));
      for (const name of [
        'content-security-policy',
        'cross-origin-opener-policy',
        'cross-origin-resource-policy',
        'referrer-policy',
        'x-content-type-options',
        'permissions-policy',
      ]) {
        expectFor([path, name], headers[name]).toEqual(page.headers[name]);
      }
      expect(headers['set-cookie']).toBeUndefined();
      const head = await tab.send('HEAD', path).is(200);
      expect([head.bytes.length, head.headers['content-length']]).toEqual([
        0,
        String(bytes.length),
      ]);
    }
    for (const path of [
      '/assets/',
      '/assets/nothing.js',
      '/assets/../mailbox.html',
      '/assets/..%2fmailbox.html',
      '/assets/%2e%2e/mailbox.html',
      '/assets/constructor',
      '/assets/__proto__',
      `${assets[0]}/`,
      `${assets[0]}.map`,
    ]) {
      expectFor(path, [400, 404].includes((await tab.get(path)).code)).toEqual(true);
    }
    expect((await tab.send('POST', assets[0]!)).code).toBe(405);
  });

  test('shells and assets come as small as the client takes them, the same once unpacked', async () => {
    const { tab, I } = await begin(service);
    const shell = `/interaction/${I.split('/').at(-1)}`;
    const assets = [
      ...(await tab.navigate(shell).is(200)).bytes
        .toString()
        .matchAll(/"(\/assets\/[^"]+\.(?:js|css))"/g),
    ].map(([, path]) => path!);
    expect(assets.length).toBe(2);
    for (const path of [shell, '/mailbox', ...assets]) {
      const plain = await tab.get(path).is(200);
      for (const [accepted, coding] of [
        ['gzip, deflate, br, zstd', 'br'],
        ['br;q=0.1', 'br'],
        ['BR', 'br'],
        ['*', 'br'],
        ['gzip', 'gzip'],
        ['gzip, br;q=0', 'gzip'],
        ['br;q=0.0, *;q=0.5', 'gzip'],
        ['identity', undefined],
        ['', undefined],
        ['br;q=0, gzip;q=0', undefined],
        ['*;q=0', undefined],
        ['*;q=0, identity', undefined],
        ['deflate', undefined],
        ['br;q=x', undefined],
        ['brotli', undefined],
      ] as const) {
        const { bytes, headers } = await tab
          .get(path, { headers: { 'accept-encoding': accepted } })
          .is(200);
        expectFor(
          [path, accepted],
          [headers['content-encoding'], headers.vary, headers['content-length']],
        ).toEqual([coding, 'Accept-Encoding', String(bytes.length)]);
        expect(decoded(bytes, coding).equals(plain.bytes)).toBe(true);
        if (coding) expect(bytes.length).toBeLessThan(plain.bytes.length);
        const head = await tab
          .send('HEAD', path, { headers: { 'accept-encoding': accepted } })
          .is(200);
        expect([
          head.bytes.length,
          head.headers['content-encoding'],
          head.headers['content-length'],
          head.headers['content-type'],
        ]).toEqual([0, coding, String(bytes.length), plain.headers['content-type']]);
      }
      expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([
        undefined,
        'Accept-Encoding',
      ]);
    }
    for (const path of assets.flatMap((asset) => [`${asset}.br`, `${asset}.gz`])) {
      await tab.get(path).fails(404, 'NotFound');
    }
    const { headers } = await tab.get(I, { headers: { 'accept-encoding': 'br, gzip' } }).is(200);
    expect([headers['content-encoding'], headers.vary]).toEqual([
      undefined,
      'Accept, Sec-Fetch-Mode',
    ]);
  });

  test.each(pages)('the page /%s is served', async (name) => {
    const { headers } = await service.tab().navigate(`/${name}`).is(200);
    expect(headers['content-type']).toMatch(/^text\/html/);
  });

  test('the shell of an interaction is the same for every name', async () => {
    const [one, two] = [await begin(service), await begin(service)];
    const [first, second] = [
      await one.tab.navigate(one.I.replace('/api/v1beta1/interactions', '/interaction')).is(200),
      await one.tab.navigate(two.I.replace('/api/v1beta1/interactions', '/interaction')).is(200),
    ];
    expect(second.bytes.equals(first.bytes)).toBe(true);
    const appearance = '</api/v1beta1/appearances/default>; rel=preload; as=fetch; crossorigin';
    expect([first.headers.link, second.headers.link]).toEqual([
      `<${one.I}>; rel=preload; as=fetch; crossorigin, ${appearance}`,
      `<${two.I}>; rel=preload; as=fetch; crossorigin, ${appearance}`,
    ]);
    expect((await one.tab.navigate('/mailbox').is(200)).headers.link).toBe(appearance);
    const asked = await one.tab
      .get(one.I, { headers: { accept: '*/*', origin: one.tab.origin, 'sec-fetch-dest': 'empty' } })
      .is(200); // as Chromium asks for a preload
    expect(asked.body.kind).toBe('Interaction');
  });
});

describe('an authorization request as a form post from another site', () => {
  const form = {
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
    origin: 'https://client.test',
    accept: 'text/html',
  };

  test('is 303 to the same as a GET, and that leads to the interaction', async () => {
    const [path, query] = authorizationPath('app', 'openid email', 'v'.repeat(43)).split('?') as [
      string,
      string,
    ];
    const tab = service.tab();
    const answer = await tab.send('POST', path, { body: query, headers: form }).is(303);
    expect(answer.headers.location).toBe(`${path}?${query}`);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    const { headers } = await tab.navigate(answer.headers.location!).is(303);
    expect((await tab.get(headers.location!).is(200)).body.status.phase).toBe('LoginRequired');
  });

  test('redirects to this endpoint alone, with any content', async () => {
    for (const body of [
      '',
      'redirect_uri=https://evil.test',
      '//evil.test',
      'a=1%0d%0aLocation:%20https://evil.test',
      'a=%00',
      '&&&=',
      'x'.repeat(8000),
    ]) {
      const { code, headers } = await service
        .tab()
        .send('POST', '/oauth2/auth', { body, headers: form });
      expect(code).toBe(303);
      expect(headers.location).toMatch(/^\/oauth2\/auth\?[!-~]*$/);
    }
    const { code, headers } = await service
      .tab()
      .send('POST', '/oauth2/auth?client_id=app', { body: 'x'.repeat(9000), headers: form });
    expect([code, headers.location]).toEqual([400, undefined]);
    expect(
      (
        await service.tab().send('POST', '/oauth2/auth', {
          body: '{}',
          headers: { ...form, 'content-type': 'application/json' },
        })
      ).code,
    ).toBe(400);
  });

  test('the confirmation of a sign-out is not exempt', async () => {
    for (const path of ['/oauth2/logout/confirm', '/oauth2/device']) {
      expect(
        (await service.tab().send('POST', path, { body: 'xsrf=x&logout=yes', headers: form })).code,
      ).toBe(403);
    }
  });
});
