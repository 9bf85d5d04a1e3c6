import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type Ran, vestibule } from '../support/command.js';
import { startTest, stopAll, type TestService } from '../support/service.js';

/** Each command is a process of its own, on a machine that may be busy. */
jest.setTimeout(120_000);

let service: TestService;
const open: Server[] = [];
beforeAll(async () => {
  service = await startTest();
});
afterAll(async () => {
  for (const one of open) {
    one.closeAllConnections();
    one.close();
  }
  await stopAll();
});

const healthcheck = (...args: readonly string[]): Promise<Ran> =>
  vestibule(['healthcheck', ...args], {});
const failure = (error: string, code = 1): Ran => ({
  code,
  out: '',
  error: `vestibule: ${error}\n`,
});

interface Said {
  readonly ready?: readonly [code: number, text: string];
  readonly discovery?: readonly [code: number, value: unknown];
}

/** Starts a service that reports what it is given. */
async function pretend({
  ready = [200, '[+]ping ok\nreadyz check passed\n'],
  discovery = [404, {}],
}: Said): Promise<string> {
  const server = createServer(
    ({ url }, response) =>
      void (url === '/readyz?verbose'
        ? response.writeHead(ready[0]).end(ready[1])
        : response
            .writeHead(discovery[0], { 'content-type': 'application/json' })
            .end(JSON.stringify(discovery[1]))),
  );
  open.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a service that is ready and is who it should be is well', async () => {
  expect(await healthcheck('--url', service.url)).toEqual({
    code: 0,
    out: `${service.baseURL} is ready\n`,
    error: '',
  });
  expect(await healthcheck('--url', service.url, '--issuer', service.baseURL)).toMatchObject({
    code: 0,
  });
});

test('one that has another issuer is not', async () => {
  expect(await healthcheck('--url', service.url, '--issuer', 'https://id.example.com')).toEqual(
    failure(`${service.url} has the issuer ${service.baseURL}, not https://id.example.com`),
  );
});

test('one that is not ready says by which checks', async () => {
  const url = await pretend({
    ready: [
      500,
      '[+]ping ok\n[-]storage failed: reason withheld\n[-]policy failed: reason withheld\nreadyz check failed\n',
    ],
  });
  expect(await healthcheck('--url', url)).toEqual(failure(`${url} is not ready: storage, policy`));
  const starting = await pretend({ ready: [503, '{}'] });
  expect(await healthcheck('--url', starting)).toEqual(
    failure(`${starting} is not ready: HTTP 503`),
  );
});

test('one that does not say who it is, or leads elsewhere, is not well', async () => {
  const silent = await pretend({});
  expect(await healthcheck('--url', silent)).toEqual(
    failure(`${silent} has no OpenID Connect discovery document: HTTP 404`),
  );
  const issuer = 'https://id.example.com';
  const astray = await pretend({
    discovery: [
      200,
      {
        issuer,
        authorization_endpoint: `${issuer}/oauth2/auth`,
        token_endpoint: 'https://id.example.com.evil.test/token',
        jwks_uri: `${issuer}/oauth2/jwks`,
      },
    ],
  });
  expect(await healthcheck('--url', astray)).toEqual(
    failure(
      `${astray} has the issuer ${issuer}, but its token_endpoint is elsewhere: https://id.example.com.evil.test/token`,
    ),
  );
});

test('one that cannot be reached is said so, and what is asked wrongly ends with 2', async () => {
  expect(await healthcheck('--url', 'http://127.0.0.1:1')).toEqual({
    code: 1,
    out: '',
    error: expect.stringMatching(/^vestibule: http:\/\/127\.0\.0\.1:1 cannot be reached: /),
  });
  expect(await healthcheck('--url', 'id.example.com')).toEqual(
    failure('--url must be a URL such as http://127.0.0.1:8080', 2),
  );
  expect(await healthcheck('now')).toEqual(failure('healthcheck takes no arguments', 2));
});
