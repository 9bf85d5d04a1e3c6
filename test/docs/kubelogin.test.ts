import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, jest, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { startTest, stopAll, type TestService, temporary } from '../support/service.js';
import { clientOf } from './clients.js';
import { read } from './pages.js';
import { signInAt } from './through.js';

jest.setTimeout(120_000);
afterAll(stopAll);

const page = 'docs/how-to/applications/kubernetes-api-server.md';
const program = process.env.KUBELOGIN ?? 'kubelogin';
const found = /Usage:\s+kubelogin/.test(
  spawnSync(program, ['--help'], { encoding: 'utf8' }).stdout ?? '',
);

/** Returns what kubelogin hands to kubectl; its request to open an address is followed by a sign-in. */
function credential(
  service: TestService,
  cache: string,
  more: readonly string[] = [],
): Promise<Record<string, unknown>> {
  const args = [
    'get-token',
    `--oidc-issuer-url=${service.baseURL}`,
    '--oidc-client-id=kubernetes',
    '--oidc-extra-scope=email',
    '--oidc-extra-scope=groups',
    '--skip-open-browser',
    `--token-cache-dir=${cache}`,
    ...more,
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(program, args);
    let [out, error, visited] = ['', '', false];
    const visit = async (address: string): Promise<void> => {
      const { headers } = await fetch(address, { redirect: 'manual' });
      await fetch(await signInAt(service, headers.get('location')!, 'ada@example.test'));
    };
    child.stdout.on('data', (text: Buffer) => {
      out += text.toString();
    });
    child.stderr.on('data', (text: Buffer) => {
      error += text.toString();
      const address = /(http:\/\/localhost:\d+\S*)/.exec(error)?.[1];
      if (address && !visited) {
        visited = true;
        visit(address).catch((failure: unknown) => {
          child.kill();
          reject(failure as Error);
        });
      }
    });
    child.once('close', (code) =>
      code === 0
        ? resolve(decodeJwt(JSON.parse(out).status.token as string))
        : reject(new Error(error)),
    );
  });
}

(found ? test : test.skip)(
  'kubelogin gets an ID token for kubectl by the Client of the page, and renews it (skipped where there is no kubelogin on the PATH or in KUBELOGIN)',
  async () => {
    const manifests = temporary();
    writeFileSync(join(manifests, 'client.yaml'), clientOf(page).text);
    writeFileSync(
      join(manifests, 'staff.yaml'),
      'apiVersion: id.vestibule.org/v1beta1\nkind: Group\nmetadata: { name: staff }\nspec: { displayName: Staff, members: [ada@example.test] }\n',
    );
    const service = await startTest({ flags: ['--manifests', manifests] });
    const cache = temporary();
    const wanted = {
      iss: service.baseURL,
      aud: 'kubernetes',
      email: 'ada@example.test',
      email_verified: true,
      groups: ['staff'],
    };
    const offline = [
      '--oidc-extra-scope=offline_access',
      '--oidc-auth-request-extra-params=prompt=consent',
    ];
    const first = await credential(service, cache, offline);
    expect(first).toMatchObject(wanted);
    expect(await credential(service, cache, [...offline, '--force-refresh'])).toMatchObject({
      ...wanted,
      sub: first.sub,
    });
    for (const one of offline) expect(read(page)).toContain(`--exec-arg=${one}`);
  },
);
