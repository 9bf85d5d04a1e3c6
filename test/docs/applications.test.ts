import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { parse } from 'yaml';
import { kinds } from '../../kinds/index.js';
import { Phase } from '../../kinds/interaction/schema.js';
import { expectFor } from '../support/expect-for.js';
import { confirm } from '../support/people/device.js';
import { signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../support/service.js';
import { clientOf, given, givenYaml, objectsShown } from './clients.js';
import { pages, read, secret } from './pages.js';
import { folderOf } from './run.js';
import { signInAt } from './through.js';

/** Programs of the pages are processes of their own, on a machine that may be busy. */
jest.setTimeout(120_000);

const folder = 'docs/how-to/applications';
const own = pages().filter((page) => page.startsWith(`${folder}/`) && !page.endsWith('README.md'));
const issuerOfPages = 'https://id.example.org';
const ada = 'ada@example.test';

let service: TestService;

beforeAll(async () => {
  const manifests = temporary();
  for (const { metadata, text } of objectsShown().filter(({ page }) => own.includes(page))) {
    writeFileSync(join(manifests, `${metadata.name}.yaml`), text);
  }
  writeFileSync(
    join(manifests, 'staff.yaml'),
    `apiVersion: id.vestibule.org/v1beta1\nkind: Group\nmetadata: { name: staff }\nspec: { displayName: Staff, members: [${ada}] }\n`,
  );
  service = await startTest({
    flags: ['--manifests', manifests, '--operators', 'op@example.test', '--limit-factor', '1000'],
  });
});
afterAll(stopAll);

/**
 * Signs Ada in by the Client of a page, as openid-client does with what the page says, at one of
 * its redirect URIs.
 */
async function signedIn(page: string, at = 0) {
  const { name, spec } = clientOf(page);
  const redirect = spec.redirectURIs![at]!;
  const scope = spec
    .scopes!.map((scope) => scope.name)
    .filter((one) => one !== 'offline_access')
    .join(' ');
  const auth = spec.type === 'Public' ? oidc.None() : oidc.ClientSecretBasic(secret);
  const config = await oidc.discovery(new URL(service.baseURL), name, undefined, auth, {
    execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks],
  });
  const checks = {
    pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
    expectedState: oidc.randomState(),
    expectedNonce: oidc.randomNonce(),
  };
  const to = oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirect,
    scope,
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  const back = await signInAt(service, to.href, ada);
  expect(back.href.startsWith(redirect)).toBe(true);
  const asWritten = new URL(redirect).href === redirect; // openid-client would send one without a path with a slash behind it
  const tokens = asWritten
    ? await oidc.authorizationCodeGrant(config, back, checks)
    : await oidc.genericGrantRequest(config, 'authorization_code', {
        code: back.searchParams.get('code')!,
        redirect_uri: redirect,
        code_verifier: checks.pkceCodeVerifier,
      });
  return {
    config,
    tokens,
    claims: tokens.claims()!,
    userinfo: await oidc.fetchUserInfo(config, tokens.access_token, tokens.claims()!.sub),
    spec,
  };
}

/** A browser in which someone is signed in. */
async function tabOf(address: string): Promise<Tab> {
  const { name, spec } = clientOf(`${folder}/web-app.md`);
  return (
    await signIn(service, address, {
      client: name,
      parameters: { redirect_uri: spec.redirectURIs![0]! },
    })
  ).tab;
}

/**
 * Runs a program of a page to its end; `heard` receives all of its standard error so far.
 */
function program(
  at: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  heard: (text: string) => void = () => {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: at,
      env: { PATH: process.env.PATH, ISSUER: service.baseURL, ...environment },
    });
    let [out, error] = ['', ''];
    child.stdout.on('data', (text: Buffer) => {
      out += text.toString();
    });
    child.stderr.on('data', (text: Buffer) => {
      error += text.toString();
      heard(error);
    });
    child.once('close', (code) => (code === 0 ? resolve(out) : reject(new Error(error))));
  });
}

describe('what the pages show can be declared', () => {
  test('each object, strictly, by an operator', async () => {
    const tab = await tabOf('op@example.test');
    const shown = objectsShown();
    expect(
      own.filter((page) => !shown.some((one) => one.page === page && one.kind === 'Client')),
    ).toEqual([]);
    // On a dry run, what one object names of the same page is not there.
    await createClient(service, 'billing-api');
    for (const { page, kind, metadata, spec } of shown) {
      const { resource, verbs } = kinds.find((one) => one.kind === kind)!;
      const query = 'fieldValidation=Strict&dryRun=All';
      // Those of these pages are there already, by the names and identifiers that they show.
      const unique = kind === 'Audience' ? { identifier: `${spec.identifier}/again` } : {};
      const draft = { apiVersion: 'id.vestibule.org/v1beta1', kind, spec: { ...spec, ...unique } };
      const name = `${metadata.name}-again`;
      const { code, body } = verbs.includes('create')
        ? await tab.post(`${resource}?${query}`, { ...draft, metadata: { ...metadata, name } })
        : await tab.patch(`${resource}/${metadata.name}?${query}`, { ...draft, metadata });
      const success = verbs.includes('create') ? 201 : 200;
      expectFor([page, metadata.name], [code, code === success ? '' : body.message]).toEqual([
        success,
        '',
      ]);
    }
  });

  test('every address of this service that a page names is one of its endpoints', async () => {
    const { body } = await service.tab().get('/.well-known/openid-configuration').is(200);
    const served = new Set([
      service.baseURL,
      `${service.baseURL}/.well-known/openid-configuration`,
      ...Object.values(body as object).filter((one) => typeof one === 'string'),
    ]);
    const named = own.flatMap((page) =>
      [...read(page).matchAll(/https:\/\/id\.example\.org[^\s"'`?|,\\]*/g)].map(([address]) => ({
        page,
        address: address.replace(/[.:;)]+$/, ''),
      })),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(
      named.filter(({ address }) => !served.has(address.replace(issuerOfPages, service.baseURL))),
    ).toEqual([]);
  });
});

describe('people sign in by', () => {
  test.each(
    own.map((page) => page.split('/').at(-1)!).filter((page) => page !== 'command-line-app.md'),
  )('%s, at each redirect URI, and it gets what the page says', async (name) => {
    const page = `${folder}/${name}`;
    for (const at of clientOf(page).spec.redirectURIs!.keys()) {
      const { claims, userinfo, spec } = await signedIn(page, at);
      const scopes = spec.scopes!.map((scope) => scope.name);
      expect(claims.aud).toBe(clientOf(page).name);
      expect(userinfo).toMatchObject({
        sub: claims.sub,
        ...(scopes.includes('email') && { email: ada, email_verified: true }),
        ...(scopes.includes('groups') && { groups: ['staff'] }),
      });
      const inToken = ['email', 'email_verified', 'groups'].filter((claim) => claim in claims);
      const wanted = spec.idTokenClaims ?? inToken;
      expect(inToken).toEqual(wanted.filter((claim) => claim !== 'name'));
      if (scopes.includes('email')) expect(claims).toHaveProperty('email', ada);
    }
  });

  test('a code on another machine (command-line-app.md)', async () => {
    const page = `${folder}/command-line-app.md`;
    const tab = await tabOf(ada);
    let confirmed: Promise<void> | undefined;
    const out = await program(folderOf(page), ['courier.mjs'], {}, (text) => {
      const address = /Open (\S+)\n/.exec(text)?.[1];
      if (address) confirmed ??= confirm(tab, address);
    });
    await confirmed;
    expect(JSON.parse(out)).toEqual({
      person: { sub: expect.stringMatching(/^[a-z0-9]{20}$/), email: ada, email_verified: true },
      refresh: true,
    });
  });
});

describe('what the pages give to be configured', () => {
  test('an API asks about the tokens of its own Client (api.md)', async () => {
    const page = `${folder}/api.md`;
    const [mine, others] = [await signedIn(page), await signedIn(`${folder}/web-app.md`)];
    const ask =
      'const { who } = await import("./who.mjs"); console.log(JSON.stringify([await who(`Bearer ${process.env.MINE}`), await who(`Bearer ${process.env.OTHERS}`), await who(`Bearer ${process.env.ID}`), await who(undefined)].map((one) => one ?? null)))';
    const out = await program(folderOf(page), ['--input-type=module', '--eval', ask], {
      CLIENT_SECRET: secret,
      MINE: mine.tokens.access_token,
      OTHERS: others.tokens.access_token,
      ID: mine.tokens.id_token!,
    });
    expect(JSON.parse(out)).toEqual([mine.claims.sub, null, null, null]);
  });

  test('kube-apiserver is configured for the ID token (kubernetes-api-server.md)', async () => {
    const page = `${folder}/kubernetes-api-server.md`;
    const {
      jwt: [{ issuer, claimMappings, claimValidationRules }],
    } = givenYaml(page, 'apiVersion: apiserver.config.k8s.io/');
    const { tokens } = await signedIn(page);
    const { payload, protectedHeader } = await jwtVerify(
      tokens.id_token!,
      createRemoteJWKSet(new URL(`${service.baseURL}/oauth2/jwks`)),
      { issuer: issuer.url.replace(issuerOfPages, service.baseURL), audience: issuer.audiences },
    );
    expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: expect.any(String) });
    expect(
      Object.fromEntries(
        Object.entries(claimMappings as Record<string, { claim: string }>).map(
          ([what, { claim }]) => [what, payload[claim]],
        ),
      ),
    ).toEqual({ username: ada, groups: ['staff'], uid: payload.sub });
    expect(
      claimValidationRules.map(({ expression }: { expression: string }) => expression),
    ).toEqual(['claims.email_verified == true']);
    expect(payload.email_verified).toBe(true);
    expect(read(page)).toContain(`--oidc-client-id=${issuer.audiences[0]}`);
  });

  test('Grafana, Argo CD and oauth2-proxy are configured with the declared Client', () => {
    const [grafana, argo, proxy] = [
      given(`${folder}/grafana.md`, 'ini'),
      givenYaml(`${folder}/argo-cd.md`, 'data:\n  url').data,
      given(`${folder}/oauth2-proxy.md`, 'toml'),
    ];
    const config = parse(argo['oidc.config']) as {
      clientID: string;
      issuer: string;
      requestedScopes: string[];
      enablePKCEAuthentication: boolean;
    };
    const said = (text: string, key: string): string =>
      new RegExp(`^${key} = "?([^"\\n]*)"?$`, 'm').exec(text)![1]!;
    const configured = [
      {
        page: 'grafana.md',
        id: said(grafana, 'client_id'),
        scopes: said(grafana, 'scopes').split(' '),
        redirect: 'https://grafana.example.org/login/generic_oauth',
      },
      {
        page: 'argo-cd.md',
        id: config.clientID,
        scopes: config.requestedScopes,
        redirect: `${argo.url}/auth/callback`,
      },
      {
        page: 'oauth2-proxy.md',
        id: said(proxy, 'client_id'),
        scopes: said(proxy, 'scope').split(' '),
        redirect: said(proxy, 'redirect_url'),
      },
    ];
    for (const { page, id, scopes, redirect } of configured) {
      const { name, spec } = clientOf(`${folder}/${page}`);
      expectFor(page, [
        id,
        scopes.filter((scope: string) => !spec.scopes!.some((one) => one.name === scope)),
        spec.redirectURIs!.includes(redirect),
      ]).toEqual([name, [], true]);
    }
    expect([
      config.issuer,
      config.enablePKCEAuthentication,
      said(grafana, 'use_pkce'),
      said(proxy, 'code_challenge_method'),
      said(proxy, 'oidc_issuer_url'),
    ]).toEqual([issuerOfPages, true, 'true', 'S256', issuerOfPages]);
  });
});

describe('what is explained', () => {
  test('of a sign-in has each of its phases', () => {
    const page = read('docs/explanation/phases-of-a-sign-in.md');
    for (const phase of Phase.options) expect(page).toContain(`\`${phase}\``);
  });

  test('of the store names every kind of record that stands in it, and no other', async () => {
    const listed = new Set(
      [...read('docs/explanation/what-is-stored.md').matchAll(/^\| (`[^|]+) \|/gm)].flatMap(
        ([, cell]) => [...cell!.matchAll(/`([^`]+)`/g)].map(([, key]) => key!),
      ),
    );
    const tab = await tabOf(ada);
    await tab.post('accounts/~/emailchallenge', { spec: { email: 'ada@elsewhere.test' } }).is(200);
    const { entries } = await service.storage.list({ start: ' ', end: '~' });
    const kept = new Set(entries.map(({ key }) => /^(objects\/[^/]+\/|[^/]+\/)/.exec(key)![1]!));
    expect([...kept].filter((key) => !listed.has(key))).toEqual([]);
    expect([...listed].filter((key) => key.startsWith('objects/')).sort()).toEqual(
      kinds.map(({ resource }) => `objects/${resource}/`).sort(),
    );
    expect([...listed].filter((key) => !key.startsWith('objects/')).sort()).toEqual([
      'addresses/',
      'decisioncount/',
      'events/',
      'index/',
      'limits/',
      'meta/',
      'oidc/',
      'outbox/',
      'proofs/',
      'unique/',
    ]);
    for (const key of [
      'oidc/',
      'limits/',
      'unique/',
      'meta/',
      'proofs/',
      'objects/grants/',
      'objects/policydecisions/',
    ]) {
      expect(kept).toContain(key);
    }
  });
});
