import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import * as oauth from 'oauth4webapi';
import { credentials, Party } from '../provider/support/party.js';
import { proceed, signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { startTest, stopAll, type TestService, temporary } from '../support/service.js';
import { objectsShown } from './clients.js';
import { secret } from './pages.js';
import { folderOf } from './run.js';

/** Programs of the page are processes of their own, on a machine that may be busy. */
jest.setTimeout(120_000);

const page = 'docs/how-to/protect-an-api.md';
const shown = 'https://billing.example.org';
const insecure = { [oauth.allowInsecureRequests]: true };
const callback = 'https://ledger.example.org/callback';

let service: TestService;
let folder: string;
let api: ChildProcess;
let resource: string;
let operator: Tab;

beforeAll(async () => {
  const port = await freePort();
  resource = `http://localhost:${port}`;
  const manifests = temporary();
  for (const { metadata, text } of objectsShown().filter((one) => one.page === page)) {
    writeFileSync(join(manifests, `${metadata.name}.yaml`), text.replaceAll(shown, resource));
  }
  service = await startTest({
    flags: ['--manifests', manifests, '--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await Party.of(service, 'app', credentials.none());
  operator = (await signIn(service, 'op@example.test')).tab;
  folder = folderOf(page);
  api = program(['api.mjs'], { PORT: String(port) });
  await once(api.stdout!, 'data');
});
afterAll(async () => {
  api?.kill();
  await stopAll();
});

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer().listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

const program = (args: readonly string[], environment: NodeJS.ProcessEnv): ChildProcess =>
  spawn(process.execPath, args, {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      ISSUER: service.baseURL,
      RESOURCE: resource,
      CLIENT_SECRET: secret,
      ...environment,
    },
  });

const call = (token?: string): Promise<Response> =>
  fetch(resource, token ? { headers: { authorization: `Bearer ${token}` } } : {});

/** A token for the API, as a client gets it that knows nothing but the address of the API. */
async function tokenFor(tab: Tab, scope: string): Promise<oauth.TokenEndpointResponse> {
  const described = await oauth.processResourceDiscoveryResponse(
    new URL(resource),
    await oauth.resourceDiscoveryRequest(new URL(resource), insecure),
  );
  const issuer = new URL(described.authorization_servers![0]!);
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' }),
  );
  const client: oauth.Client = { client_id: 'ledger' };
  const verifier = oauth.generateRandomCodeVerifier();
  const query = new URLSearchParams({
    client_id: 'ledger',
    response_type: 'code',
    redirect_uri: callback,
    scope,
    resource,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const { pathname } = new URL(server.authorization_endpoint!);
  const back = await proceed(tab, `${pathname}?${query}`);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.ClientSecretBasic(secret),
    oauth.validateAuthResponse(server, client, back, oauth.expectNoState),
    callback,
    verifier,
    { ...insecure, additionalParameters: { resource } },
  );
  return oauth.processAuthorizationCodeResponse(server, client, response);
}

test('a client finds the service by the API’s metadata, and calls it', async () => {
  const refused = await call();
  expect(refused.status).toBe(401);
  expect(refused.headers.get('www-authenticate')).toBe(
    `Bearer resource_metadata="${resource}/.well-known/oauth-protected-resource"`,
  );
  const { tab } = await signIn(service, 'ada@example.test');
  const tokens = await tokenFor(tab, 'openid invoices.read');
  const { sub } = oauth.getValidatedIdTokenClaims(tokens)!;
  expect(await (await call(tokens.access_token)).json()).toEqual({
    invoicesOf: sub,
    seenBy: 'ledger',
  });
  const paying = await tokenFor(tab, 'openid invoices.pay');
  expect((await call(paying.access_token)).status).toBe(403);
  const { body } = await tab.get('grants').is(200);
  const grant = body.items.find((item: any) => item.status.client.name === 'ledger');
  expect(grant.spec.audiences).toEqual([
    { name: 'billing', scopes: ['invoices.pay', 'invoices.read'] },
  ]);
  await tab.patch(`grants/${grant.metadata.name}`, { spec: { audiences: [] } }).is(200);
  const late = await call(paying.access_token);
  expect([late.status, late.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining('error="invalid_token"'),
  ]);
});

test('an API that verifies its tokens itself gets JWTs, and accepts nothing else', async () => {
  await operator.patch('audiences/billing', { spec: { accessTokenFormat: 'JWT' } }).is(200);
  const { tab } = await signIn(service, 'ben@example.test');
  const tokens = await tokenFor(tab, 'openid invoices.read');
  const child = program(
    [
      '--input-type=module',
      '--eval',
      'const { check } = await import("./check.mjs"); console.log(JSON.stringify(await Promise.all([process.env.GOOD, process.env.ID].map((one) => check(one).catch(() => null)))))',
    ],
    { GOOD: tokens.access_token, ID: tokens.id_token! },
  );
  const [out] = await once(child.stdout!, 'data');
  const { sub } = oauth.getValidatedIdTokenClaims(tokens)!;
  expect(JSON.parse(String(out))).toEqual([
    expect.objectContaining({ sub, aud: resource, client_id: 'ledger', scope: 'invoices.read' }),
    null,
  ]);
});
