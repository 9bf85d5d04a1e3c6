import { afterAll, describe, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { mailServerProblem, parseBaseURL } from '../cmd/vestibule/options/config-validation.js';
import { isLoopback } from '../security/loopback.js';
import { serverAddress, serverUrlsProblem } from '../storage/etcd/server-urls.js';
import { createMailer } from '../mail/smtp.js';

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

describe('the setting --base-url', () => {
  test.each([
    ['https://id.example.org', 'https://id.example.org'],
    ['https://id.example.org/', 'https://id.example.org'],
    ['https://id.example.org:443', 'https://id.example.org'],
    ['https://id.example.org:443/', 'https://id.example.org'],
    ['HTTPS://ID.Example.ORG', 'https://id.example.org'],
    ['https://id.example.org:8443/', 'https://id.example.org:8443'],
    ['http://localhost:80/', 'http://localhost'],
    ['http://[::1]:8080/', 'http://[::1]:8080'],
    ['http://[0:0:0:0:0:0:0:1]:8080', 'http://[::1]:8080'],
    ['https://[2001:DB8::1]:443/', 'https://[2001:db8::1]'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example'],
  ])('%s is %s', (text, normal) => {
    const problems: string[] = [];
    expect([parseBaseURL(text, problems), problems]).toEqual([normal, []]);
  });

  test.each([
    'https://id.example.org/path',
    'https://id.example.org/?',
    'https://id.example.org/#',
    'https://user@id.example.org',
    'https://2001:db8::1',
    'id.example.org',
    'ftp://id.example.org/',
    'smtp://id.example.org/',
    'http://id.example.org/',
    'http://[2001:db8::1]/',
  ])('%s is refused', (text) => {
    const problems: string[] = [];
    parseBaseURL(text, problems);
    expect(problems).toEqual([expect.stringContaining('--base-url must be')]);
  });
});

describe('--smtp-url', () => {
  test.each([
    'smtp://mail.example.org',
    'smtp://MAIL.example.org:25/',
    'smtps://[::1]',
    'smtp://[2001:db8::1]:25',
    'smtps://me%40example.org:a%2Fb@mail.example.org:465',
  ])('%s is taken', (text) => {
    expect(mailServerProblem(text)).toBeUndefined();
  });

  test.each([
    ['smtp://', 'must look like'],
    ['smtp:mail.example.org', 'must look like'],
    ['smtp://::1:25', 'must look like'],
    ['https://mail.example.org', 'must look like'],
    ['smtp://mail.example.org/inbox', 'must end after'],
    ['smtp://mail.example.org?tls=1', 'must end after'],
    ['smtp://me:a/b@mail.example.org', ''],
    ['smtp://me:100%@mail.example.org', '%25'],
  ])('%s is refused, without its password', (text, problem) => {
    expect(mailServerProblem(text)).toContain(problem);
    expect(mailServerProblem(text)).not.toContain('mail.example.org');
  });

  test.each([
    ['smtp://[::1]:PORT', '::1'],
    ['smtp://[0:0:0:0:0:0:0:1]:PORT/', '::1'],
    ['smtp://LOCALHOST:PORT', '127.0.0.1'],
    ['smtp://127.0.0.1:PORT', '127.0.0.1'],
    ['smtps://[::1]:PORT', '::1'],
  ])('%s reaches the server', async (text, address) => {
    let isReached = false;
    const server = createServer((socket) => {
      isReached = true;
      socket.on('error', () => {});
      socket.end('421 closed\r\n');
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    const { port } = server.address() as AddressInfo;
    const mailer = createMailer({ url: text.replace('PORT', String(port)), timeoutMs: 5_000 });
    await expect(mailer.verify()).rejects.toThrow();
    mailer.close();
    expect(isReached).toBe(true);
  });
});

describe('--etcd-servers', () => {
  test.each([
    'https://etcd.example.org:2379/',
    'https://ETCD.example.org:2379',
    'https://etcd.example.org:443',
    'http://[::1]:2379/',
    'https://[2001:DB8::1]:2379',
  ])('%s is taken', (url) => {
    expect(serverUrlsProblem([url], isLoopback)).toBeUndefined();
  });

  test.each([
    ['HTTPS://ETCD.example.org/', 'https://etcd.example.org:443'],
    ['http://localhost:80/', 'http://localhost:80'],
    ['http://[0::1]:2379/', 'http://[::1]:2379'],
  ])('%s is asked at %s', (url, address) => {
    expect(serverAddress(url)).toBe(address);
  });

  test.each(['https://etcd.example.org:2379/v3', 'http://[2001:db8::1]:2379', 'etcd:2379'])(
    '%s is refused',
    (url) => {
      expect(serverUrlsProblem([url], isLoopback)).toContain('must be');
    },
  );
});
