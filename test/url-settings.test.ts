import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../cmd/vestibule/options/config.js';
import {
  mailServerProblem,
  originPattern,
  parseBaseURL,
} from '../cmd/vestibule/options/config-validation.js';
import { createMailer } from '../mail/smtp.js';
import { isLoopback } from '../security/loopback.js';
import { serverAddress, serverUrlsProblem } from '../storage/etcd/server-urls.js';

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** What is no origin, though a browser would make one of most. */
const notOrigins = [
  'https:id.example.org',
  'https:/id.example.org',
  'https:///id.example.org',
  'https:\\\\id.example.org',
  'https://id.example.org\\',
  'https://id.example.org:0',
  'https://id.example.org:',
  'https://id.example.org:0443',
  'https://id.example.org:65536',
  'https://id.exam\tple.org',
  'https://id.example.org\n',
  '\nhttps://id.example.org',
  ' https://id.example.org',
  'https://id.example.org ',
  'https://me:hush@id.example.org',
  'https://@id.example.org',
  'https://id.example.org?a=b',
  'https://id.example.org#top',
  'https://id.example.org//',
  'https://id%2eexample.org',
  'https://',
];

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
    ...notOrigins,
  ])('%s is refused', (text) => {
    const problems: string[] = [];
    parseBaseURL(text, problems);
    expect(problems).toEqual([expect.stringMatching(/^--base-url must be [^\n\t]+$/)]);
    expect(problems[0]).not.toContain('hush');
  });

  const folder = mkdtempSync(join(tmpdir(), 'vestibule-url-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'config.yaml');
  const sources: readonly (readonly [
    source: string,
    read: (url: string) => [string[], Record<string, string>],
  ])[] = [
    ['a flag', (url) => [[`--base-url=${url}`], {}]],
    ['the environment', (url) => [[], { VESTIBULE_BASE_URL: url }]],
    [
      'a file',
      (url) => {
        writeFileSync(file, JSON.stringify({ baseUrl: url }));
        return [[`--config=${file}`], {}];
      },
    ],
  ];
  const store = ['--data-dir', folder, '--allow-mock-mail', '--mock-mail'];

  test.each(sources)('from %s is written as browsers write it, or refused', async (_, read) => {
    const [args, environment] = read('HTTPS://ID.Example.ORG:443/');
    const { baseURL, displayed } = await loadConfig([...store, ...args], environment);
    expect([baseURL, displayed['base-url']]).toEqual([
      'https://id.example.org',
      'https://id.example.org',
    ]);
    for (const text of notOrigins) {
      const [wrong, variables] = read(text);
      await expect(loadConfig([...store, ...wrong], variables)).rejects.toThrow(/must be/);
    }
  });

  test('the chart takes what the service takes', () => {
    const chart = join(import.meta.dirname, '../deploy/chart/templates');
    const [, pattern] = /regexMatch "\(\?i\)(.*?)" \$v\.baseURL/.exec(
      readFileSync(join(chart, '_refusals.tpl'), 'utf8'),
    )!;
    expect(new RegExp(JSON.parse(`"${pattern}"`), 'i').source).toBe(
      originPattern.source.replace('[\\]]', '\\[\\]]'),
    );
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
