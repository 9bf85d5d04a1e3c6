import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { parse } from 'yaml';
import { Grant, grantName } from '../../kinds/apps/grant.js';
import { eachKubectl } from '../support/cluster/cluster.js';
import { Kubectl } from '../support/cluster/kubectl.js';
import { program, type Ran, vestibule } from '../support/command.js';
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

/** Each command is a process of its own, on a machine that may be busy. */
jest.setTimeout(120_000);

let service: TestService;
let tab: Tab;
let folder: string;
const file = (name: string): string => join(folder, name);
const command = (...args: string[]): Promise<Ran> =>
  vestibule(args, { VESTIBULE_CONTEXTS: file('contexts') });

/** The command, and a person who confirms the code it shows. */
async function confirmed(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Ran> {
  let done: Promise<void> | undefined;
  const ran = await vestibule(
    args,
    { VESTIBULE_CONTEXTS: file('contexts'), ...environment },
    (text) => {
      const address = /Open (\S+)\n/.exec(text)?.[1];
      if (address) done ??= confirm(tab, address);
    },
  );
  await done;
  return ran;
}

const context = () => {
  const { current, contexts } = JSON.parse(readFileSync(file('contexts'), 'utf8'));
  return { name: current as string, ...contexts[current] };
};

/** Has the token that is kept end now. */
function endToken(): void {
  const held = JSON.parse(readFileSync(file('contexts'), 'utf8'));
  writeFileSync(
    file('contexts'),
    JSON.stringify({
      ...held,
      contexts: { [held.current]: { ...held.contexts[held.current], expires: 0 } },
    }),
  );
}

async function freePort(): Promise<string> {
  const probe = createServer();
  await new Promise<void>((resolve) => {
    probe.listen(0, '127.0.0.1', resolve);
  });
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => {
    probe.close(resolve);
  });
  return String(port);
}

beforeAll(async () => {
  folder = temporary();
  const port = await freePort();
  service = await startTest({
    directory: folder,
    flags: [
      '--operators',
      'op@example.test',
      '--limit-factor',
      '1000',
      '--secure-port',
      port,
      '--base-url',
      `https://localhost:${port}`,
    ],
  });
  await createClient(service, 'app');
  ({ tab } = await signIn(service, 'op@example.test'));
  writeFileSync(
    file('kube'),
    '# mine\napiVersion: v1\nkind: Config\nclusters:\n- name: other   # stays\n  cluster: { server: "https://other.example.test" }\n',
  );
  chmodSync(file('kube'), 0o644);
  expect(
    await confirmed(['login', service.baseURL, '--certificate-authority', file('tls.crt')]),
  ).toMatchObject({ code: 0, out: '' });
  expect(await command('kubeconfig', '-f', file('kube'))).toEqual({
    code: 0,
    out: '',
    error: `Wrote ${file('kube')}: KUBECONFIG=${file('kube')} kubectl get accounts\n`,
  });
});
afterAll(stopAll);

eachKubectl((found) => {
  let kubectl: Kubectl;
  const more = () => ({ KUBECONFIG: file('kube') });
  const says = async (...args: string[]): Promise<string> => {
    const { code, out, error } = await kubectl.run(args, '', more());
    expectFor(args, [code, error]).toEqual([0, '']);
    return out;
  };
  beforeAll(() => {
    kubectl = new Kubectl(found, { url: service.baseURL });
  });
  afterAll(() => kubectl?.remove());

  test('is signed in by the command, over TLS, and does what the documentation says', async () => {
    expect(await says('get', 'accounts', '--no-headers')).toMatch(
      /^\S+ +op@example\.test +false +0 +<none> +\S+\n$/,
    );
    expect(await says('explain', 'interaction.status')).toContain('emailChallenge');
    expect(
      await says('apply', '-f', join(import.meta.dirname, '../../deploy/examples/client.yaml')),
    ).toMatch(/^client\.id\.vestibule\.org\/my-app (created|unchanged)\n$/);
    expect((await kubectl.run(['auth', 'can-i', 'create', 'policies'], '', more())).out).toBe(
      'yes\n',
    );
  });

  test('gets a new token where the former has ended, several at once one and the same', async () => {
    endToken();
    const before = context();
    const answers = await Promise.all([1, 2, 3].map(() => says('get', 'policies', '-o', 'name')));
    expect(new Set(answers)).toEqual(new Set(['policy.id.vestibule.org/p-1\n']));
    const after = context();
    expect([
      after.expires > Date.now(),
      after.refreshToken === before.refreshToken,
      after.accessToken === before.accessToken,
    ]).toEqual([true, false, false]);
    expect(await says('get', 'accounts', '-o', 'name')).toMatch(
      /^account\.id\.vestibule\.org\/\S+\n$/,
    );
    expect(statSync(file('contexts')).mode & 0o777).toBe(0o600);
  });
});

eachKubectl((found) => {
  test('asks for a new sign-in where the last has ended', async () => {
    const kubectl = new Kubectl(found, { url: service.baseURL });
    endToken();
    const account = (await tab.get('accounts/~').is(200)).body.metadata.name as string;
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.delete(Grant, grantName(account, 'vestibule')),
    );
    const { code, error } = await kubectl.run(['get', 'accounts'], '', {
      KUBECONFIG: file('kube'),
    });
    expect([code, error]).toEqual([
      1,
      expect.stringContaining('vestibule: your sign-in has ended: vestibule login\n'),
    ]);
    const again = await confirmed(['credential', '--context', context().name], {
      KUBERNETES_EXEC_INFO: JSON.stringify({
        apiVersion: 'client.authentication.k8s.io/v1',
        kind: 'ExecCredential',
        spec: { interactive: true },
      }),
    });
    expect(again).toMatchObject({
      code: 0,
      error: expect.stringMatching(
        /^Open https:\/\/localhost:\d+\/\S+\nand confirm the code [A-Z]{4}-[A-Z]{4}\n$/,
      ),
    });
    expect(
      (await kubectl.run(['get', 'accounts', '-o', 'name'], '', { KUBECONFIG: file('kube') })).out,
    ).toBe(`account.id.vestibule.org/${account}\n`);
    kubectl.remove();
  });
}, 'newest');

test('a kubeconfig has the service, its certificate and this command', async () => {
  const name = `vestibule-${new URL(service.baseURL).host}`;
  expect(await command('kubeconfig', '-f', file('kube'))).toMatchObject({ code: 0 });
  const text = readFileSync(file('kube'), 'utf8');
  expect([
    text.startsWith('# mine\n'),
    text.includes('# stays'),
    statSync(file('kube')).mode & 0o777,
  ]).toEqual([true, true, 0o600]);
  const ours = {
    clusters: [
      {
        name,
        cluster: {
          server: service.baseURL,
          'certificate-authority-data': readFileSync(file('tls.crt')).toString('base64'),
        },
      },
    ],
    users: [
      {
        name,
        user: {
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: program,
            args: ['credential', '--context', context().name],
            env: [{ name: 'VESTIBULE_CONTEXTS', value: file('contexts') }],
            interactiveMode: 'IfAvailable',
            provideClusterInfo: false,
          },
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
  expect(parse(text)).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    ...ours,
    clusters: [
      { name: 'other', cluster: { server: 'https://other.example.test' } },
      ...ours.clusters,
    ],
    'current-context': name,
  });
  const elsewhere = await command('kubeconfig', '--server', 'https://api.example.test/');
  expect([elsewhere.code, parse(elsewhere.out).clusters[0].cluster.server]).toEqual([
    0,
    'https://api.example.test',
  ]);
  expect(text + elsewhere.out).not.toContain(context().accessToken);
});

test('a credential says when it ends, in the version that kubectl asks for', async () => {
  const asked = (apiVersion: string): Promise<Ran> =>
    vestibule(['credential'], {
      VESTIBULE_CONTEXTS: file('contexts'),
      KUBERNETES_EXEC_INFO: JSON.stringify({
        apiVersion,
        kind: 'ExecCredential',
        spec: { interactive: false },
      }),
    });
  for (const apiVersion of [
    'client.authentication.k8s.io/v1',
    'client.authentication.k8s.io/v1beta1',
  ]) {
    const { status, ...rest } = JSON.parse((await asked(apiVersion)).out);
    const { accessToken, expires } = context();
    expect([rest, status.token]).toEqual([{ apiVersion, kind: 'ExecCredential' }, accessToken]);
    expect(status.expirationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(Date.parse(status.expirationTimestamp)).toBeLessThan(expires);
  }
  expect(await asked('client.authentication.k8s.io/v2')).toMatchObject({
    code: 1,
    out: '',
    error: expect.stringContaining('this command knows'),
  });
});

test('what is wrong is said with the exit code that goes with it', async () => {
  const wrong = async (
    environment: NodeJS.ProcessEnv,
    ...args: string[]
  ): Promise<[number | null, string]> => {
    const { code, error, out } = await vestibule(args, environment);
    expect(out).toBe('');
    return [code, error];
  };
  const plain = file('plain');
  writeFileSync(
    plain,
    JSON.stringify({ current: 'here', contexts: { here: { server: 'http://localhost:1' } } }),
  );
  expect(await wrong({ VESTIBULE_CONTEXTS: plain }, 'kubeconfig')).toEqual([
    2,
    expect.stringMatching(/kubectl sends no token to http:\/\/localhost:1: set the https address/),
  ]);
  expect(
    await wrong(
      { VESTIBULE_CONTEXTS: plain },
      'kubeconfig',
      '--server',
      'https://x.example.test',
      '--certificate-authority',
      plain,
    ),
  ).toEqual([2, expect.stringMatching(/is not a certificate in PEM/)]);
  expect(
    await wrong(
      { VESTIBULE_CONTEXTS: plain },
      'kubeconfig',
      '--server',
      'https://x.example.test',
      '-f',
      join(import.meta.dirname, 'command.test.ts'),
    ),
  ).toEqual([1, expect.stringMatching(/not a kubeconfig/)]);
  expect(await wrong({ VESTIBULE_CONTEXTS: plain }, 'credential')).toEqual([
    1,
    'vestibule: your sign-in has ended: vestibule login\n',
  ]);
  for (const word of ['kubeconfig', 'credential']) {
    expect(await wrong({ VESTIBULE_CONTEXTS: file('none') }, word)).toEqual([
      1,
      'vestibule: you are not signed in: vestibule login URL\n',
    ]);
  }
  expect(await wrong({ VESTIBULE_CONTEXTS: plain }, 'login', service.baseURL)).toEqual([
    1,
    expect.stringMatching(/cannot be reached: (self-signed|unable to verify)/),
  ]);
});
