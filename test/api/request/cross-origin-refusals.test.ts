import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Answer } from '../../support/people/tab.js';
import { startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

const origin = 'https://spa.example.test';
const form = 'application/x-www-form-urlencoded';
const reading = ['/.well-known/openid-configuration', '/oauth2/userinfo', '/oauth2/jwks'];
const posting = ['token', 'userinfo', 'revoke', 'introspect', 'par', 'device/auth'].map(
  (name) => `/oauth2/${name}`,
);
const pages = ['/oauth2/auth', '/oauth2/device', '/oauth2/logout'];

interface Refused {
  readonly method?: string;
  readonly type?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

/** Requests that are refused before it is known whose they are. */
const posted: readonly (readonly [what: string, request: Refused])[] = [
  ['a body that is too long', { body: `client_id=app&scope=${'a'.repeat(300_000)}` }],
  ['a parameter that is too long', { body: `client_id=app&scope=${'a'.repeat(20_000)}` }],
  ['no parameters', { body: '' }],
  ['a body of JSON', { type: 'application/json', body: '{"client_id":"app"}' }],
  ['a body without type', { type: '', body: 'client_id=app' }],
  ['a body that is no form', { body: '%zz=%' }],
  ['a compressed body', { headers: { 'content-encoding': 'gzip' }, body: 'client_id=app' }],
  ['a method that is not served', { method: 'PATCH' }],
  ['an unknown Client', { body: 'client_id=unknown&grant_type=refresh_token' }],
];
const read: typeof posted = [
  ['a compressed body', { headers: { 'content-encoding': 'gzip' } }],
  ['a method that is not served', { method: 'PUT' }],
];

describe.each(stores)('what pages see of a refusal, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
  });
  afterAll(stopAll);

  const send = (
    path: string,
    method: string,
    { type = form, body, headers, method: other }: Refused,
    at = service,
  ): PromiseLike<Answer> =>
    at.tab().send(other ?? method, path, {
      plain: true,
      ...(body !== undefined && { body }),
      headers: {
        origin,
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'cors',
        ...(body !== undefined && type && { 'content-type': type }),
        ...headers,
      },
    });
  const seenBy = ({ headers }: Answer): boolean =>
    ['*', origin].includes(headers['access-control-allow-origin'] ?? '') &&
    headers['access-control-allow-credentials'] === undefined;

  const requests = [
    ...posting.flatMap((path) => posted.map(([what, one]) => [what, path, 'POST', one] as const)),
    ...reading.flatMap((path) => read.map(([what, one]) => [what, path, 'GET', one] as const)),
  ];
  test.each(requests)('%s at %s is seen by its page', async (_, path, method, request) => {
    const answer = await send(path, method, request);
    expect(answer.code).toBeGreaterThanOrEqual(400);
    expect(answer.code).toBeLessThan(500);
    expect(seenBy(answer)).toBe(true);
  });

  test.each(pages)('no page of another site reads a refusal of %s', async (path) => {
    for (const request of [
      { method: 'PATCH' },
      { headers: { 'content-encoding': 'gzip' } },
      { body: `client_id=${'a'.repeat(300_000)}` },
    ]) {
      const { code, headers } = await send(path, 'POST', request);
      expect(code).toBeGreaterThanOrEqual(400);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    }
  });

  test('requests over the rate are seen, and preflights are not counted', async () => {
    const small = await startTest({ store, flags: ['--limits-requests-per-network', '10'] });
    for (const path of ['/oauth2/par', '/oauth2/device/auth']) {
      const preflight = { 'access-control-request-method': 'POST' };
      for (let i = 0; i < 20; i += 1) {
        expect((await send(path, 'OPTIONS', { headers: preflight }, small)).code).toBe(204);
      }
      const answers: Answer[] = [];
      for (let i = 0; i < 11; i += 1) {
        answers.push(await send(path, 'POST', { body: 'client_id=app' }, small));
      }
      expect(answers.map(({ code }) => code === 429)).toEqual([...Array(10).fill(false), true]);
      expect(seenBy(answers.at(-1)!)).toBe(true);
      expect(answers.at(-1)!.headers['access-control-expose-headers']).toContain('Retry-After');
      expect((await send(path, 'OPTIONS', { headers: preflight }, small)).code).toBe(204);
    }
  });
});
