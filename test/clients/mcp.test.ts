import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { freePorts } from '../storage/etcd-server.js';
import { type DocumentServer, startDocumentServer } from '../support/network/document-server.js';
import { proceed, signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';

const root = join(import.meta.dirname, '../..');
const sample = join(root, 'deploy/examples/apps/tools');

let service: TestService;
let operator: Tab;
let port: number;
let callbackPort: number;
let endpoint: string;
let documents: DocumentServer;
const children: ChildProcess[] = [];

/** Starts a program of the sample; returns its lines. */
function start(program: string, args: readonly string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [join(sample, program), ...args], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout! });
  return { child, lines: lines[Symbol.asyncIterator]() };
}

/** Creates what a manifest of the sample declares, with the ports of this test. */
async function createFrom(file: string, resource: string): Promise<void> {
  const text = readFileSync(join(sample, 'manifests', file), 'utf8')
    .replaceAll('localhost:8092', `localhost:${port}`)
    .replaceAll('8093', String(callbackPort));
  const { metadata, spec } = parse(text);
  await operator.post(resource, { metadata, spec }).is(201);
}

beforeAll(async () => {
  documents = await startDocumentServer();
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  [port, callbackPort] = (await freePorts(2)) as [number, number];
  endpoint = `http://localhost:${port}/mcp`;
  await createClient(service, 'app');
  operator = (await signIn(service, 'op@example.test')).tab;
  await createFrom('audience.yaml', 'audiences');
  await createFrom('client.yaml', 'clients');
  const { lines } = start('server.mjs', [], { ISSUER: service.baseURL, PORT: String(port) });
  expect((await lines.next()).value).toBe(`tools ${endpoint}`);
});
afterAll(async () => {
  for (const child of children) child.kill('SIGTERM');
  documents.close();
  await stopAll();
});

/** Calls a tool as a person, who agrees in a browser; returns what the client prints. */
async function call(
  tab: Tab,
  tool: string,
  input: object = {},
  env: Record<string, string> = {},
): Promise<string[]> {
  const { child, lines } = start('client.mjs', [endpoint, tool, JSON.stringify(input)], {
    CALLBACK_PORT: String(callbackPort),
    ...env,
  });
  const ended = once(child, 'exit');
  const first = String((await lines.next()).value);
  const { origin, pathname, search, searchParams } = new URL(first.replace(/^open /, ''));
  expect(origin).toBe(service.baseURL);
  expect(searchParams.get('resource')).toBe(endpoint);
  expect(searchParams.get('scope')).toBe('notes');
  const back = await proceed(tab, pathname + search);
  expect((await fetch(back)).status).toBe(200);
  const printed: string[] = [];
  for (let line = await lines.next(); !line.done; line = await lines.next()) {
    printed.push(line.value);
  }
  expect((await ended)[0]).toBe(0);
  return printed;
}

test('the SDK of the Model Context Protocol signs people in and calls tools', async () => {
  const { tab: ada } = await signIn(service, 'ada@example.test');
  const { tab: eve } = await signIn(service, 'eve@example.test');
  expect(await call(ada, 'add_note', { text: 'Buy bread.' })).toEqual(['There are 1 notes now.']);
  expect(await call(ada, 'list_notes')).toEqual(['Buy bread.']);
  expect(await call(eve, 'list_notes')).toEqual(['There are no notes.']);
});

test('a client whose client_id is the URL of its metadata document does the same', async () => {
  const example = JSON.parse(readFileSync(join(sample, 'client.json'), 'utf8'));
  const { client_id: _, client_uri: __, ...members } = example;
  const url = documents.serve('/client.json', members);
  const { cedar } = (await operator.get('policies/p-1').is(200)).body.spec;
  await operator
    .post('policies', {
      spec: {
        cedar: `${cedar}
          permit (principal, action == Action::"register", resource)
          when { resource.host == "${documents.host}" };`,
      },
    })
    .is(201);
  await operator.patch('audiences/tools', { spec: { clientsByDocument: true } }).is(200);
  const { tab: joy } = await signIn(service, 'joy@example.test');
  const called = await call(joy, 'add_note', { text: 'Oil.' }, { CLIENT_METADATA_URL: url });
  expect(called).toEqual(['There are 1 notes now.']);
  expect(documents.requests).toEqual(['/client.json']);
  const { items } = (await joy.get('grants').is(200)).body;
  const [grant] = items.filter(({ status }: any) => status.client.name === url);
  expect(grant).toMatchObject({
    spec: { audiences: [{ name: 'tools', scopes: ['notes'] }] },
    status: { client: { displayName: documents.host, declaredName: 'Tools client' } },
  });
});

test('its server names the service (RFC 9728), and takes no token for something else', async () => {
  const metadata = await fetch(
    `http://localhost:${port}/.well-known/oauth-protected-resource/mcp`,
  ).then((response) => response.json());
  expect(metadata).toMatchObject({
    resource: endpoint,
    authorization_servers: [service.baseURL],
    scopes_supported: ['notes'],
  });
  const refused = await fetch(endpoint, {
    method: 'POST',
    headers: { authorization: 'Bearer not-a-token', 'content-type': 'application/json' },
    body: '{}',
  });
  expect(refused.status).toBe(401);
  expect(refused.headers.get('www-authenticate')).toContain('resource_metadata=');
});
