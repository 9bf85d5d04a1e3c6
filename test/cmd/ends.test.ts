import { execFile } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, jest, test } from '@jest/globals';
import { writeFileAtomically } from '../../cmd/vestibule/terminal/files.js';
import { Following, keep, program, stopFollowing, vestibule } from '../support/command.js';
import { stopAll, temporary } from '../support/service.js';

/** Each command is a process of its own, on a machine that may be busy. */
jest.setTimeout(120_000);

const open: Server[] = [];
afterAll(async () => {
  await stopFollowing();
  for (const one of open) {
    one.closeAllConnections();
    one.close();
  }
  await stopAll();
});

/** Starts a service that answers as given. */
async function pretend(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  open.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const discovery = {
  kind: 'APIGroupDiscoveryList',
  metadata: {},
  items: [
    {
      metadata: { name: 'g' },
      versions: [
        {
          version: 'v1',
          resources: [
            {
              resource: 'things',
              responseKind: { group: 'g', version: 'v1', kind: 'Thing' },
              scope: 'Cluster',
              singularResource: 'thing',
              verbs: ['list'],
            },
          ],
        },
      ],
    },
  ],
};
/** Discovery at `/apis` and at `/api`, where nothing is; undefined for other paths. */
const discoveryAt = (path: string): object | undefined =>
  ({ '/apis': discovery, '/api': { ...discovery, items: [] } })[path];
const thing = (name: string) => ({
  kind: 'Thing',
  apiVersion: 'g/v1',
  metadata: { name, uid: name, resourceVersion: '1' },
});

test('an interrupt lets a renewal finish', async () => {
  let asked: () => void = () => {};
  const waits = new Promise<void>((resolve) => {
    asked = resolve;
  });
  let answer: () => void = () => {};
  const url: string = await pretend(({ method }, response) => {
    const json = (value: unknown): void =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(value));
    if (method === 'GET') {
      return json({
        issuer: url,
        device_authorization_endpoint: `${url}/d`,
        token_endpoint: `${url}/t`,
        revocation_endpoint: `${url}/r`,
      });
    }
    answer = () => json({ access_token: 'new', refresh_token: 'next', expires_in: 3600 });
    asked();
  });
  const { VESTIBULE_CONTEXTS: file } = keep(url, 'old');
  const held = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(
    file,
    JSON.stringify({
      ...held,
      contexts: { test: { ...held.contexts.test, expires: 0, refreshToken: 'former' } },
    }),
  );
  const command = new Following(['get', 'things'], { VESTIBULE_CONTEXTS: file });
  await waits;
  const ended = command.interrupt();
  setTimeout(() => answer(), 300);
  expect(await ended).toBe(130);
  expect(JSON.parse(readFileSync(file, 'utf8')).contexts.test).toMatchObject({
    refreshToken: 'next',
    accessToken: 'new',
  });
  expect([existsSync(`${file}.lock`), statSync(file).mode & 0o777]).toEqual([false, 0o600]);
});

test('a reader that has seen enough ends it without a complaint', async () => {
  const url = await pretend(({ url: path }, response) =>
    response.end(
      JSON.stringify(
        discoveryAt(path!) ?? {
          kind: 'ThingList',
          metadata: { resourceVersion: '1' },
          items: Array.from({ length: 20_000 }, (_, at) => thing(`thing-${at}`)),
        },
      ),
    ),
  );
  const said = await new Promise((resolve) => {
    execFile(
      'bash',
      [
        '-c',
        `set -o pipefail; '${process.execPath}' '${program}' get things -o json --server ${url} | head -c 20`,
      ],
      (error, out, complaint) => resolve([error?.code ?? 0, out.length, complaint]),
    );
  });
  expect(said).toEqual([0, 20, '']);
});

test('a collection whose pages come too late is asked for whole', async () => {
  const heard: string[] = [];
  const url = await pretend(({ url: path }, response) => {
    heard.push(path!);
    const found = discoveryAt(path!);
    if (found) {
      response.end(JSON.stringify(found));
    } else if (path!.includes('continue=')) {
      response
        .writeHead(410)
        .end(JSON.stringify({ kind: 'Status', reason: 'Expired', message: 'too old', code: 410 }));
    } else {
      response.end(
        JSON.stringify({
          kind: 'ThingList',
          metadata: { resourceVersion: '1', ...(path!.includes('limit=') && { continue: 'next' }) },
          items: (path!.includes('limit=') ? ['a'] : ['a', 'b']).map(thing),
        }),
      );
    }
  });
  expect(await vestibule(['get', 'things', '-o', 'name', '--server', url], {})).toEqual({
    code: 0,
    out: 'thing.g/a\nthing.g/b\n',
    error: '',
  });
  expect(heard).toEqual([
    '/api',
    '/apis',
    '/apis/g/v1/things?limit=500',
    '/apis/g/v1/things?limit=500&continue=next',
    '/apis/g/v1/things',
  ]);
});

test('a service that cannot be reached, or is none, is said so', async () => {
  expect(await vestibule(['get', 'things', '--server', 'http://127.0.0.1:1'], {})).toEqual({
    code: 1,
    out: '',
    error: expect.stringMatching(/^vestibule: http:\/\/127\.0\.0\.1:1 cannot be reached: .*\n$/),
  });
  const url = await pretend((_, response) => response.end('{"kind":"APIGroupList","groups":[]}'));
  expect(await vestibule(['get', 'things', '--server', url], {})).toEqual({
    code: 1,
    out: '',
    error: `vestibule: ${url} does not serve API discovery\n`,
  });
});

test('a file is put in place whole, for its owner alone', () => {
  const folder = temporary();
  const [file, link] = [join(folder, 'deep/er/file'), join(folder, 'link')];
  writeFileAtomically(file, 'one');
  symlinkSync(file, link);
  writeFileSync(`${file}.new`, 'left behind', { mode: 0o644 });
  writeFileAtomically(link, 'two');
  expect([
    readFileSync(file, 'utf8'),
    lstatSync(link).isSymbolicLink(),
    statSync(file).mode & 0o777,
    statSync(join(folder, 'deep')).mode & 0o777,
    existsSync(`${file}.new`),
  ]).toEqual(['two', true, 0o600, 0o700, false]);
});
