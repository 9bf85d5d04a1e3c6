import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
// @ts-expect-error the commands have no types
import { bundledPackages } from '../../hack/artefacts/runtime-packages.mjs';
// @ts-expect-error the commands have no types
import { billOf } from '../../hack/sbom.mjs';
import { release } from '../../observability/build-info.js';
import { freePorts } from '../storage/etcd-server.js';
import { Inbox } from '../support/people/inbox.js';
import { Tab } from '../support/people/tab.js';
import {
  codeFrom,
  emptyFolder,
  environment,
  packageFile,
  Running,
  released,
  removeFolders,
  root,
  signIn,
} from './artefacts.js';

/** npm installs what the package depends on. */
jest.setTimeout(300_000);

const prefix = emptyFolder();
const modules = join(prefix, 'lib/node_modules/vestibule/node_modules');
const inbox = new Inbox();
let running: Running | undefined;

beforeAll(() => {
  const install = ['install', '--global', '--prefix', prefix, packageFile()];
  execFileSync('npm', install, { env: environment(), stdio: ['ignore', 'ignore', 'inherit'] });
});
afterEach(async () => {
  await running?.stop();
});
afterAll(async () => {
  await inbox.close();
  removeFolders();
});

/** The packages of the part of package-lock.json that the package has, as name@version. */
function locked(): string[] {
  const { packages } = JSON.parse(
    readFileSync(join(modules, '../npm-shrinkwrap.json'), 'utf8'),
  ) as { packages: Record<string, { version: string }> };
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`);
}

/** The packages below a folder of modules, as name@version. */
function packagesIn(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(^|\/node_modules\/)(@[^/]+\/)?[^/@]+\/package\.json$/.test(path))
    .map((path) => JSON.parse(readFileSync(join(folder, path), 'utf8')))
    .map(({ name, version }) => `${name}@${version}`);
  return [...new Set(found)].sort();
}

test('the bill of materials names the installed packages and no other', () => {
  const bill = released
    ? JSON.parse(readFileSync(join(released, `vestibule-${release}.tgz.cdx.json`), 'utf8'))
    : billOf({ installed: locked(), bundled: bundledPackages(), epoch: 0 });
  const placed = (place: string): string[] =>
    bill.components
      .filter((one: any) => one.properties.some(({ value }: any) => value === place))
      .map((one: any) => one['bom-ref'])
      .sort();
  expect(placed('installed')).toEqual(packagesIn(modules));
  expect(placed('bundled').map((one) => one.replace(/(?<=.)@.*/, ''))).toEqual(
    expect.arrayContaining(['express', 'oidc-provider', 'preact', 'zod']),
  );
});

test('each name of the command runs', () => {
  for (const name of ['vestibule', 'kubectl-vestibule']) {
    const program = join(prefix, 'bin', name);
    expect(execFileSync(process.execPath, [program, 'version'], { encoding: 'utf8' })).toBe(
      `${release}\n`,
    );
  }
  expect(existsSync(join(prefix, 'bin/kubectl_complete-vestibule'))).toBe(true);
});

const systemd = join(released ?? join(root, 'deploy'), 'systemd');
const unit = readFileSync(join(systemd, 'vestibule.service'), 'utf8');

/** The files that the unit names, in folders of the test; the text of the unit with those. */
async function placeFiles(): Promise<string> {
  const [etc, data] = [emptyFolder(), emptyFolder()];
  const at = (text: string): string =>
    text
      .replaceAll('/opt/vestibule', prefix)
      .replaceAll('/etc/vestibule', etc)
      .replaceAll('/var/lib/vestibule', data)
      .replaceAll('%d', etc);
  const settings = readFileSync(join(systemd, 'vestibule.yaml'), 'utf8');
  const [port] = await freePorts(1);
  writeFileSync(join(etc, 'vestibule.yaml'), `${at(settings)}\nport: ${port}\n`);
  writeFileSync(join(etc, 'smtp-url'), await inbox.listen(), { mode: 0o600 });
  return at(unit);
}

test('the unit starts the installed program, and a person signs in through a proxy', async () => {
  const text = await placeFiles();
  const lines = (word: string): string[] =>
    [...text.matchAll(new RegExp(`^${word}=(.*)$`, 'gm'))].map(([, value]) => value!);
  const variables = lines('Environment').flatMap((line) => line.split(' '));
  const script = `exec env ${variables.join(' ')} ${lines('ExecStart').join(' ')}`;
  running = new Running(script, emptyFolder(), environment());
  const [base, url] = await running.ready;
  expect(base).toBe('https://id.example.org');
  const tab = new Tab(url!, base!);
  tab.headers = {
    host: 'id.example.org',
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-proto': 'https',
  };
  expect(await signIn(tab, 'you@example.org', () => codeFrom(inbox))).toBe('you@example.org');
});

const analyzes = spawnSync('systemd-analyze', ['--version']).status === 0;
(analyzes ? test : test.skip)(
  'systemd accepts the unit, and finds it confined (skipped without systemd-analyze)',
  () => {
    const file = join(emptyFolder(), 'vestibule.service');
    writeFileSync(file, unit.replaceAll('/opt/vestibule', prefix));
    const commands = [
      ['verify', file],
      ['security', '--offline=yes', '--threshold=20', file],
    ];
    for (const args of commands) {
      const { status, stderr } = spawnSync('systemd-analyze', ['--no-pager', ...args], {
        encoding: 'utf8',
      });
      const about = stderr.split('\n').filter((line) => line.includes('vestibule.service'));
      expect([args[0], status, about]).toEqual([args[0], 0, []]);
    }
  },
);
