import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectFor } from '../../support/expect-for.js';
import { exchange } from '../../support/people/tab.js';
import { startTest, stopAll, type TestService } from '../../support/service.js';

afterAll(stopAll);

describe('while mail is mocked', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest();
  });

  const ask = (path: string, host: string) => exchange(service.url, 'GET', path, { host });

  test.each([
    'evil.test',
    'evil.test:8080',
    'localhost.evil.test',
    'localhost@evil.test',
    '0.0.0.0',
    '[::2]',
    'local host',
  ])('a request for host %j is refused', async (host) => {
    for (const path of [
      '/api/v1beta1/mockmessages',
      '/mailbox',
      '/oauth2/auth',
      '/account',
      '/api',
    ]) {
      const { code, bytes } = await ask(path, host);
      expectFor(path, code).toEqual(400);
      expect(bytes.toString()).not.toContain('items');
    }
  });

  test('a request for the base URL or for loopback is answered, with any port', async () => {
    for (const host of [
      new URL(service.baseURL).host,
      'localhost',
      'localhost:1',
      '127.0.0.1',
      '[::1]:8080',
    ]) {
      expect((await ask('/api/v1beta1/mockmessages', host)).code).toBe(200);
    }
    for (const path of ['/livez', '/readyz']) expect((await ask(path, 'evil.test')).code).toBe(200);
  });

  test('a public base URL is answered to by its own name', async () => {
    const open = await startTest({
      flags: ['--base-url', 'https://id.example.test', '--allow-mock-mail'],
    });
    expect(
      (await exchange(open.url, 'GET', '/api/v1beta1/mockmessages', { host: 'id.example.test' }))
        .code,
    ).toBe(200);
    expect(
      (await exchange(open.url, 'GET', '/api/v1beta1/mockmessages', { host: 'example.test' })).code,
    ).toBe(400);
  });
});

test('where mail is sent, a Host is not looked at', async () => {
  const service = await startTest({ mail: 'smtp://127.0.0.1:9' });
  expect((await exchange(service.url, 'GET', '/api', { host: 'evil.test' })).code).toBe(200);
});
