import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Answer, exchange } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';

afterAll(stopAll);

let service: TestService;
beforeAll(async () => {
  service = await startTest({ flags: ['--limit-factor', '1000'] });
  await createClient(service, 'app');
});

/**
 * What makes a reader that goes back begin again at each place; how long the readers take is judged
 * by test/regular-expressions.test.ts.
 */
const pieces = [
  'a',
  '1',
  ' ',
  '/',
  ',',
  '"',
  '\\',
  '"\\',
  '=',
  ';',
  'a=b;',
  '[',
  '..',
  '-',
  'a@',
  'eyJ',
  'en-',
  'a/b;q=',
  'a/b;c="x,',
  '*/*,',
  '(a,',
  'a in (',
  '{"a":',
  'http://',
  'Version/1',
  'Bearer ',
  '%',
];
const repeated = (piece: string, length: number): string =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
const ask = (
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<Answer> =>
  exchange(service.url, method, path, { accept: 'application/json', ...headers }, body);

const headers = [
  'accept',
  'accept-language',
  'accept-encoding',
  'cookie',
  'user-agent',
  'authorization',
  'if-none-match',
  'origin',
  'audit-id',
  'traceparent',
];
const parameters = [
  'labelSelector',
  'fieldSelector',
  'continue',
  'timeout',
  'scope',
  'redirect_uri',
  'claims',
  'id_token_hint',
  'state',
];

/** Every way in by which text of strangers comes, with text of the longest permitted length. */
function requests(piece: string): (() => Promise<Answer>)[] {
  const query = repeated(encodeURIComponent(piece), 7_000);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  return [
    ...headers.map(
      (name) => () =>
        ask('GET', '/api/v1beta1/policies', { [name]: repeated(piece, 14_000).trim() || 'x' }),
    ),
    ...parameters.map((name) => () => ask('GET', `/api/v1beta1/policies?${name}=${query}`)),
    ...parameters.map(
      (name) => () => ask('GET', `/oauth2/auth?client_id=app&response_type=code&${name}=${query}`),
    ),
    () => ask('GET', `/${query}`),
    () => ask('GET', `/interaction/${query}`),
    () => ask('GET', `/api/v1beta1/interactions/${query}`),
    ...['client_id', 'code', 'client_assertion', 'token'].map(
      (name) => () =>
        ask(
          'POST',
          '/oauth2/token',
          form,
          `grant_type=authorization_code&${name}=${repeated(encodeURIComponent(piece), 50_000)}`,
        ),
    ),
    () =>
      ask(
        'POST',
        '/api/v1beta1/interactions/x/login',
        { 'content-type': 'application/json' },
        JSON.stringify({ spec: { method: 'EmailCode', code: repeated(piece, 30_000) } }),
      ),
    () =>
      ask(
        'POST',
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        { 'content-type': 'application/json' },
        repeated(piece, 60_000),
      ),
  ];
}

test.each(pieces)(
  'text of %j again and again is refused or answered, and never a fault',
  async (piece) => {
    for (const request of requests(piece)) expect((await request()).code).toBeLessThan(500);
    expect((await ask('GET', '/readyz')).code).toBe(200);
  },
);
