import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import {
  decodeJwt,
  decodeProtectedHeader,
  importJWK,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { stringify } from 'yaml';
import { newKeys } from '../../security/keyring.js';
import { clientOf, givenYaml } from '../docs/clients.js';
import { indentedOf, read } from '../docs/pages.js';
import { signInAt } from '../docs/through.js';
import { Served } from '../faults/served.js';
import { freePorts } from '../storage/etcd-server.js';
import { authority, certificate } from '../support/cluster/frontproxy.js';
import { serverAuth } from '../support/cluster/issue-certificate.js';
import { eventually, KubeAPIServer } from '../support/cluster/kubeapiserver.js';
import type { Kubectl } from '../support/cluster/kubectl.js';
import { vestibule } from '../support/command.js';
import { confirm } from '../support/people/device.js';
import { authorizationPath } from '../support/people/signin.js';
import { Tab } from '../support/people/tab.js';
import { stopAll, temporary } from '../support/service.js';

jest.setTimeout(300_000);

const page = 'docs/how-to/applications/kubernetes-api-server.md';
const [ada, bob, op] = ['ada@example.test', 'bob@example.test', 'op@example.test'];
const program = process.env.KUBELOGIN ?? 'kubelogin';
const kubelogin = /Usage:\s+kubelogin/.test(
  spawnSync(program, ['--help'], { encoding: 'utf8' }).stdout ?? '',
);

let service: Served;
let issuer: string;
/** Whom the service's certificate is signed by, PEM, and the file that says so. */
let trusted: { readonly ca: string; readonly file: string };
let keysFile: string;
/** The file of the page, as the API server reads it. */
let authentication: string;
let cluster: KubeAPIServer;
let kubectl: Kubectl;

beforeAll(async () => {
  const folder = temporary();
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const signer = authority('own-authority');
  trusted = { ca: signer.cert, file: file('ca.crt', signer.cert) };
  const pair = certificate('vestibule', signer, { usages: [serverAuth], names: ['localhost'] });
  keysFile = file('keys.json', JSON.stringify(newKeys()));
  const port = (await freePorts(1))[0]!;
  issuer = `https://localhost:${port}`;
  const { text } = clientOf(page);
  const manifest = `${text}---\n${text.replace('name: kubernetes', 'name: another-cluster')}---\napiVersion: id.vestibule.org/v1beta1\nkind: Group\nmetadata: { name: staff }\nspec: { displayName: Staff, members: [${ada}] }\n`;
  service = await Served.start(
    folder,
    {},
    {
      manifest,
      flags: [
        '--base-url',
        issuer,
        '--secure-port',
        String(port),
        '--tls-cert-file',
        file('given.crt', pair.cert),
        '--tls-private-key-file',
        file('given.key', pair.key),
        '--keys-file',
        keysFile,
        '--operators',
        op,
      ],
    },
  );
  authentication = file('authentication.yaml', stringify(configuration()));
  cluster = await KubeAPIServer.start(['--authentication-config', authentication]);
  cluster.startControllers('clusterrole-aggregation-controller'); // which gives role view its rights
  kubectl = cluster.kubectl();
  const token = await signedIn(bob);
  await eventually(
    () => whoami(token),
    ({ code }) => code === 0,
  ); // it reads the issuer's keys beside its start
});
afterAll(async () => {
  await cluster?.stop();
  await service?.stop();
  await service?.end();
  await stopAll();
});

/** The file that the page shows, for this issuer and its authority. */
function configuration(): object {
  const shown = givenYaml(page, 'apiVersion: apiserver.config.k8s.io/');
  expect(shown.jwt.map((one: any) => one.issuer.url)).toEqual(['https://id.example.org']);
  Object.assign(shown.jwt[0].issuer, { url: issuer, certificateAuthority: trusted.ca });
  return shown;
}

const browser = (): Tab => Object.assign(new Tab(issuer, issuer), { tls: { ca: trusted.ca } });
const reached = { tab: browser };

/**
 * The tokens of anyone who signs in by a Client, as a program gets them that has the code sent to its
 * own address.
 */
async function tokens(
  email: string,
  client = 'kubernetes',
): Promise<{ id_token: string; access_token: string }> {
  const verifier = randomBytes(32).toString('base64url');
  const redirect_uri = clientOf(page).spec.redirectURIs![0]!;
  const back = await signInAt(
    reached,
    authorizationPath(client, 'openid email groups', verifier, { redirect_uri }),
    email,
  );
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code: back.searchParams.get('code')!,
    redirect_uri,
    client_id: client,
    code_verifier: verifier,
  }).toString();
  return (
    await browser()
      .send('POST', '/oauth2/token', {
        plain: true,
        body,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      .is(200)
  ).body;
}
const signedIn = async (email: string, client?: string): Promise<string> =>
  (await tokens(email, client)).id_token;

/** What kubectl gets to hear of a token. */
const whoami = (token: string): ReturnType<Kubectl['run']> =>
  kubectl.run(['--token', token, 'auth', 'whoami', '-o', 'json']);
const userOf = async (token: string): Promise<any> =>
  JSON.parse(await kubectl.says('--token', token, 'auth', 'whoami', '-o', 'json')).status.userInfo;

/** Expects a token to be refused, and the cluster's log to give a reason. */
async function refused(token: string, why: RegExp): Promise<void> {
  const before = cluster.log.length;
  expect(await whoami(token)).toMatchObject({
    code: 1,
    error: expect.stringMatching(/Unauthorized|You must be logged in/),
  });
  await eventually(
    async () => cluster.log.slice(before),
    (log) => why.test(log),
    20_000,
  );
}

/** Changes the Client that the page shows, and gives back what it was. */
async function changed(spec: object): Promise<void> {
  const tab = browser();
  await signInAt(
    reached,
    authorizationPath('kubernetes', 'openid email groups', randomBytes(32).toString('base64url'), {
      redirect_uri: clientOf(page).spec.redirectURIs![0]!,
    }),
    op,
    tab,
  );
  await tab.patch('clients/kubernetes', { spec }).is(200);
}

describe('a kube-apiserver with the file of the page', () => {
  test('is of the release that the page says', async () => {
    const { gitVersion } = (await cluster.as('admin').get('/version', { plain: true }).is(200))
      .body;
    expect(read(page)).toContain(`Tested with kube-apiserver ${gitVersion.slice(1)} and`);
  });

  test('knows people by address, groups and account, with the prefixes', async () => {
    const token = await signedIn(ada);
    expect(decodeProtectedHeader(token).alg).toBe('RS256');
    expect(await userOf(token)).toMatchObject({
      username: `vestibule:${ada}`,
      uid: decodeJwt(token).sub,
      groups: ['vestibule:staff', 'system:authenticated'],
    });
    expect(await userOf(await signedIn(bob))).toMatchObject({
      username: `vestibule:${bob}`,
      groups: ['system:authenticated'],
    });
  });

  test('gives them what their groups are bound to, and nothing else', async () => {
    const [hers, his] = [await signedIn(ada), await signedIn(bob)];
    expect(await kubectl.fails('--token', hers, 'get', 'namespaces')).toContain(
      `User "vestibule:${ada}" cannot list resource "namespaces"`,
    );
    const command = indentedOf(page)
      .map(({ text }) => text.trim())
      .find((text) => text.startsWith('kubectl create clusterrolebinding '))!;
    await cluster.kubectl('admin').says(...command.split(' ').slice(1));
    expect(
      (
        await eventually(
          () => kubectl.run(['--token', hers, 'get', 'namespaces', '-o', 'name']),
          ({ code }) => code === 0,
        )
      ).out,
    ).toContain('namespace/kube-system');
    expect(await kubectl.fails('--token', hers, 'create', 'namespace', 'hers')).toContain(
      `User "vestibule:${ada}" cannot create resource "namespaces"`,
    );
    expect(await kubectl.fails('--token', his, 'get', 'namespaces')).toContain(
      `User "vestibule:${bob}" cannot list resource "namespaces"`,
    );
  });

  test('refuses what is not an ID token of this issuer, for this cluster and for now', async () => {
    const { id_token: token, access_token } = await tokens(ada);
    const own = (
      JSON.parse(readFileSync(keysFile, 'utf8')).signing as Record<string, string>[]
    ).find(({ alg }) => alg === 'ES256')!;
    const { kid } = decodeProtectedHeader(token);
    const signed = async (claims: JWTPayload, key = own): Promise<string> =>
      new SignJWT({ ...decodeJwt(token), ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: kid! })
        .sign(await importJWK(key, 'ES256'));
    expect(await userOf(await signed({ nonce: 'made by the test' }))).toMatchObject({
      username: `vestibule:${ada}`,
    }); // so that what follows is refused for what it says
    const now = Math.floor(Date.now() / 1000);
    await refused(await signedIn(ada, 'another-cluster'), /expected audience .*kubernetes/);
    await refused(
      await signed({ iat: now - 7_200, exp: now - 3_600 }),
      /oidc: verify token: .*expired/,
    );
    await refused(
      await signed(
        {},
        newKeys().signing.find(({ alg }) => alg === 'ES256') as Record<string, string>,
      ),
      /failed to verify (id token )?signature/,
    );
    const [head, , signature] = token.split('.');
    await refused(
      [
        head,
        Buffer.from(JSON.stringify({ ...decodeJwt(token), email: op })).toString('base64url'),
        signature,
      ].join('.'),
      /failed to verify (id token )?signature/,
    );
    expect((await whoami(new UnsecuredJWT(decodeJwt(token)).encode())).code).toBe(1);
    expect((await whoami(await signed({ iss: 'https://elsewhere.example' }))).code).toBe(1);
    expect((await whoami(access_token)).code).toBe(1);
    await refused(
      await signed({ email_verified: false }),
      /the address is not proven|email not verified/,
    );
  });

  test('says what the page says where the Client puts no email_verified into ID tokens', async () => {
    await changed({ idTokenClaims: ['email', 'groups'] });
    try {
      await refused(await signedIn(ada), /claims\.email_verified/);
    } finally {
      await changed({ idTokenClaims: clientOf(page).spec.idTokenClaims });
    }
    expect(read(page)).toContain('| `Unauthorized`, *claims.email_verified* |');
  });

  test('takes ES256 as well, where the Client asks for it', async () => {
    await changed({ idTokenSignedResponseAlg: 'ES256' });
    try {
      const token = await signedIn(ada);
      expect(decodeProtectedHeader(token).alg).toBe('ES256');
      expect(await userOf(token)).toMatchObject({
        username: `vestibule:${ada}`,
        groups: ['vestibule:staff', 'system:authenticated'],
      });
    } finally {
      await changed({ idTokenSignedResponseAlg: null });
    }
  });
});

(kubelogin ? describe : describe.skip)(
  'kubectl with kubelogin, as the page says (skipped where there is no kubelogin on the PATH or in KUBELOGIN)',
  () => {
    /**
     * Sets a user up by the command of the page, and asks who they are; `visit` goes where
     * kubelogin says.
     */
    async function through(
      more: readonly string[],
      visit: (said: string) => Promise<void> | undefined,
    ): Promise<any> {
      const own = cluster.kubectl();
      const command = indentedOf(page)
        .map(({ text }) => text)
        .find((text) => text.includes('config set-credentials'))!;
      const [set, use] = command
        .replaceAll('\\\n', ' ')
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/\s+/).slice(1));
      const filled = set!.map((word) =>
        word.replace('https://id.example.org', issuer).replace(/=kubelogin$/, `=${program}`),
      );
      await own.says(
        ...filled,
        `--exec-arg=--certificate-authority=${trusted.file}`,
        '--exec-arg=--skip-open-browser',
        ...more,
      );
      expect(use!.slice(0, 1)).toEqual(['--user=vestibule']);
      const asking = own.follow('--user=vestibule', 'auth', 'whoami', '-o', 'json');
      try {
        let visited: Promise<void> | undefined;
        await asking.until((text) => {
          visited ??= visit(text);
          return /^}/m.test(text);
        }, 60_000);
        await visited;
        return JSON.parse(/^{[^]*^}/m.exec(asking.text)![0]).status.userInfo;
      } finally {
        await asking.stop();
      }
    }

    const wanted = {
      username: `vestibule:${ada}`,
      groups: ['vestibule:staff', 'system:authenticated'],
    };

    test('by the browser', async () => {
      const go = async (address: string): Promise<void> => {
        const { headers } = await fetch(address, { redirect: 'manual' });
        await fetch(await signInAt(reached, headers.get('location')!, ada));
      };
      expect(
        await through([], (said) => {
          const at = /http:\/\/localhost:\d+\/?/.exec(said)?.[0];
          return at === undefined ? undefined : go(at);
        }),
      ).toMatchObject(wanted);
    });

    test('by a code on another device', async () => {
      const tab = browser();
      const parameters = { redirect_uri: clientOf(page).spec.redirectURIs![0]! };
      await signInAt(
        reached,
        authorizationPath(
          'kubernetes',
          'openid email groups',
          randomBytes(32).toString('base64url'),
          parameters,
        ),
        ada,
        tab,
      );
      expect(
        await through(['--exec-arg=--grant-type=device-code'], (said) => {
          const at = /https:\/\/localhost:\d+\/\S+/.exec(said)?.[0];
          return at === undefined ? undefined : confirm(tab, at);
        }),
      ).toMatchObject(wanted);
      expect(read(page)).toContain('`--exec-arg=--grant-type=device-code`');
    });
  },
);

describe('keys that are changed by "vestibule keys"', () => {
  const kidOf = (token: string): string => decodeProtectedHeader(token).kid!;
  const published = async (): Promise<string[]> =>
    (await browser().get('/oauth2/jwks', { plain: true }).is(200)).body.keys.map(
      ({ kid }: { kid: string }) => kid,
    );
  /** One step, once the service has taken it over. */
  async function step(word: string): Promise<void> {
    const before = (await published()).join();
    expect(await vestibule(['keys', word, keysFile], {})).toMatchObject({ code: 0 });
    await eventually(published, (kids) => kids.join() !== before);
  }
  /**
   * The API server takes a file that has changed over by itself, and reads the issuer's keys for
   * it.
   */
  let changes = 0;
  const readAnew = (): void => {
    writeFileSync(authentication, `${stringify(configuration())}# ${(changes += 1)}\n`);
  };
  const accepted = async (token: string): Promise<boolean> => (await whoami(token)).code === 0;

  test('are followed with no restart and no token refused', async () => {
    const old = await signedIn(ada);
    await step('add');
    readAnew();
    const keys = JSON.parse(readFileSync(keysFile, 'utf8')).signing as Record<string, string>[];
    const next = keys.filter(({ alg }) => alg === 'ES256').at(-1)!;
    const early = await new SignJWT({ ...decodeJwt(old) })
      .setProtectedHeader({ alg: 'ES256', kid: (await published())[keys.indexOf(next)]! })
      .sign(await importJWK(next, 'ES256'));
    await eventually(() => accepted(early), Boolean);
    await step('use');
    const fresh = await signedIn(ada);
    expect(kidOf(fresh)).not.toBe(kidOf(old));
    for (const token of [fresh, old, await signedIn(bob)]) expect(await accepted(token)).toBe(true);
  });

  test('without that are followed as soon as the API server reads the keys again', async () => {
    const old = await signedIn(ada);
    for (const word of ['drop', 'add', 'use', 'drop']) await step(word);
    expect(await published()).not.toContain(kidOf(old));
    const fresh = await signedIn(ada);
    await refused(fresh, /failed to verify (id token )?signature/);
    expect(await accepted(old)).toBe(true);
    readAnew();
    await eventually(() => accepted(fresh), Boolean);
    await refused(old, /failed to verify (id token )?signature/);
  });
});
