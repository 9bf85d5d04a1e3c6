import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { freePorts } from '../storage/etcd-server.js';
import { asInPackage, npmCache, packLibrary } from '../support/library.js';
import { settles } from '../support/patience.js';
import { stopAll, temporary } from '../support/service.js';

/** npm installs packages, perhaps from a registry. */
jest.setTimeout(600_000);

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const repository = JSON.parse(read('package.json'));
const run = promisify(execFile);
const children: ChildProcess[] = [];

/** The environment of someone who has Node and npm, and nothing of this checkout. */
const environment = {
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: temporary(),
  ...npmCache,
};
const npm = (cwd: string, ...args: string[]) => run('npm', args, { cwd, env: environment });

const sha256 = (path: string): string =>
  createHash('sha256').update(readFileSync(path)).digest('hex');

let tarball: string;
let content: string;
let manifest: any;
let files: string[];
/** A project of its own, in a folder that was empty. */
const project = join(temporary(), 'fish');

beforeAll(async () => {
  tarball = packLibrary(temporary());
  const folder = temporary();
  await run('tar', ['-xzf', tarball, '-C', folder]);
  content = join(folder, 'package');
  manifest = JSON.parse(readFileSync(join(content, 'package.json'), 'utf8'));
  files = readdirSync(content, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(content.length + 1))
    .sort();
  const from = dirname(project);
  cpSync(tarball, join(from, basename(tarball)));
  await run('npx', ['--yes', `./${basename(tarball)}`, 'new', 'fish'], {
    cwd: from,
    env: environment,
  });
  await npm(project, 'install');
});
afterAll(async () => {
  for (const { pid } of children) process.kill(-pid!);
  await stopAll();
});

test('it is the same byte for byte, and is named after the release', () => {
  expect(tarball).toMatch(new RegExp(`/vestibule-apiserver-${repository.version}\\.tgz$`));
  expect(sha256(packLibrary(temporary()))).toBe(sha256(tarball));
});

test('it has the core and nothing of identity', () => {
  const folders = new Set(files.map((path) => path.split('/')[0]!));
  expect([...folders].sort()).toEqual([
    'LICENSE',
    'README.md',
    'apiserver',
    'command.mjs',
    'observability',
    'package.json',
    'project',
    'registry',
    'security',
    'storage',
  ]);
  const modules = files.filter((path) => path.includes('/') && !path.startsWith('project/'));
  expect(modules.filter((path) => !/\.(js|d\.ts)$/.test(path))).toEqual([]);
  expect(modules.length).toBeGreaterThan(200);
  for (const path of modules) {
    expect([path, existsSync(join(root, path.replace(/\.(js|d\.ts)$/, '.ts')))]).toEqual([
      path,
      true,
    ]);
    expect(readFileSync(join(content, path), 'utf8')).not.toMatch(
      /'[./]*\/(kinds|policy|provider|ui|mail|i18n|cmd)\//,
    );
  }
  expect(modules).not.toContain('observability/metrics/metrics.js');
});

test('it depends on what it imports in exact versions, and on the zod of a project', () => {
  expect(Object.keys(manifest.dependencies)).toEqual([
    '@grpc/grpc-js',
    '@grpc/proto-loader',
    'ajv',
    'ajv-formats',
    'classic-level',
    'cockatiel',
    'cookie-parser',
    'etcd3',
    'express',
    'json-merge-patch',
    'pino',
    'prom-client',
    'yaml',
    'zod-to-json-schema',
  ]);
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    expect([name, version]).toEqual([name, repository.dependencies[name]]);
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  }
  expect(manifest.peerDependencies).toEqual({
    zod: `^${repository.dependencies.zod}`,
    '@types/node': '>=24',
  });
  expect(manifest).toMatchObject({
    version: repository.version,
    license: repository.license,
    engines: repository.engines,
  });
});

test('its command writes the example as a project, and no other folder', async () => {
  const example = 'deploy/examples/apps/fischer';
  expect(readFileSync(join(project, 'server.ts'), 'utf8')).toBe(
    asInPackage(read(`${example}/server.ts`)),
  );
  expect(readdirSync(project).sort()).toEqual([
    '.gitignore',
    'README.md',
    'fischer.yaml',
    'node_modules',
    'package-lock.json',
    'package.json',
    'server.ts',
    'tsconfig.json',
    `vestibule-apiserver-${repository.version}.tgz`,
  ]);
  expect(sha256(join(project, `vestibule-apiserver-${repository.version}.tgz`))).toBe(
    sha256(tarball),
  );
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(project, 'package.json'), 'utf8'),
  );
  for (const version of Object.values({ ...dependencies, ...devDependencies })) {
    expect(version).toMatch(/^(\d+\.\d+\.\d+|file:vestibule-apiserver-\d+\.\d+\.\d+\.tgz)$/);
  }
  const command = join(project, 'node_modules/.bin/vestibule-apiserver');
  for (const [args, said] of [
    [['new', '.'], '. is not empty; give a new folder'],
    [['new'], 'write "vestibule-apiserver new DIR"'],
    [[], 'write "vestibule-apiserver new DIR"'],
  ] as const) {
    const { status, stderr } = spawnSync(command, args, { cwd: project, env: environment });
    expect([status, stderr.toString()]).toEqual([1, expect.stringContaining(said)]);
  }
});

/** Calls that a strict compiler should take: what a variable of the environment may be is undefined. */
const strict = `
import {
  type ApiServerOptions, bearerToken, conditions, defineAction, type Informer, kindsOf, openStorage,
  type Reconciler, secret, startApiServer, StatusError, subjectAccessReviews,
} from 'vestibule-apiserver';
import { z } from 'zod';

const Pond = kindsOf({ group: 'fish.example.com', version: 'v1' })({
  kind: 'Pond',
  resource: 'ponds',
  description: 'Water.',
  verbs: ['get', 'list', 'create', 'patch'],
  spec: z.object({ depth: z.number().default(1).describe('Metres.'), 
    key: secret(z.string().max(99), 'Sealed').optional().describe('Of its gate.') }),
  status: z.object({ conditions: conditions('Full').optional() }),
  columns: { Depth: ({ spec }) => spec.depth },
});
const reconciler: Reconciler<typeof Pond> = {
  name: 'ponds',
  kind: Pond,
  isDue: ({ spec }) => spec.depth > 1,
  async reconcile(tx, { metadata }) {
    await tx.update(Pond, metadata.name, (next) => void (next.spec.depth = 1));
  },
};
const { TOKEN, ADDRESS, CA, UID, ETCD_SERVERS } = process.env;
const ca = CA === undefined ? undefined : Buffer.from(CA);
const options: ApiServerOptions = {
  kinds: [Pond],
  storage: await openStorage(
    ETCD_SERVERS === undefined
      ? { directory: 'data' }
      : { servers: [ETCD_SERVERS], prefix: '/fish/', ca },
  ),
  authenticators: [() => ({ type: 'ClusterUser', user: 'ada', groups: [], uid: UID })],
  token: TOKEN,
  address: ADDRESS,
  reconcilers: [reconciler],
  clientCA: CA === undefined ? undefined : { ca: CA },
  authorize: subjectAccessReviews({ server: 'https://kube.example.com', ca: CA, token: TOKEN }),
};
const server = await startApiServer(options);
const pond = await server.store.reader(Pond).get('one');
const depth: number | undefined = pond?.spec.depth;
// @ts-expect-error: a kind has the fields of its schema alone
pond?.spec.width;
export { bearerToken, defineAction, depth, type Informer, StatusError };
`;

test('a project with the strictest settings compiles, and its libraries with it', async () => {
  writeFileSync(join(project, 'strict.ts'), strict);
  const settings = JSON.parse(readFileSync(join(project, 'tsconfig.json'), 'utf8'));
  expect(settings.compilerOptions).toMatchObject({
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
  });
  expect(settings.compilerOptions.skipLibCheck).toBeUndefined();
  const checked = await npm(project, 'run', 'check').catch(({ stdout }) => ({ stdout }));
  expect(checked.stdout).not.toMatch(/error/);
});

test('a project that names no types compiles too', async () => {
  const folder = join(project, 'plain');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { strict: true, module: 'nodenext', target: 'es2023', noEmit: true },
    }),
  );
  writeFileSync(
    join(folder, 'server.ts'),
    "import { startApiServer } from 'vestibule-apiserver';\nexport const start = startApiServer;\n",
  );
  const checked = await run(join(project, 'node_modules/.bin/tsc'), ['-p', folder]).catch(
    ({ stdout }) => ({ stdout }),
  );
  expect(checked.stdout).toBe('');
});

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
(hasKubectl ? test : test.skip)(
  'npm start serves, and kubectl applies and gets (skipped where there is no kubectl)',
  async () => {
    const [port] = (await freePorts(1)).map(String) as [string];
    const child = spawn('npm', ['start'], {
      cwd: project,
      env: { ...environment, PORT: port },
      detached: true,
    });
    children.push(child);
    let said = '';
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (text: Buffer) => {
        said += text.toString();
      });
    }
    await settles(
      async () => said,
      (text) => text.includes(`listening on http://127.0.0.1:${port}`),
    );
    const kubectl = async (...args: string[]): Promise<string> => {
      const all = ['--server', `http://localhost:${port}`, ...args];
      return (await run('kubectl', all, { cwd: project, env: environment })).stdout;
    };
    expect(await kubectl('apply', '--server-side', '-f', 'fischer.yaml')).toContain('ada');
    expect(await kubectl('get', 'fish')).toMatch(/^ada +sole,plaice/m);
    expect(await kubectl('explain', 'fischer.spec')).toContain('Names of flunders');
  },
);
