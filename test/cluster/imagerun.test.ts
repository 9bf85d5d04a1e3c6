import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { parse } from 'yaml';
import { release } from '../../observability/build-info.js';
import { type EtcdServer, freePorts, startEtcd } from '../storage/etcd-server.js';
import { checkout } from '../support/checkout.js';
import { expectFor } from '../support/expect-for.js';
import { begin, type Reached, redeem, signIn } from '../support/people/signin.js';
import { Tab } from '../support/people/tab.js';
import { base, build, Container, engine, packagesOf, removeBuilt, run } from './container.js';

/** Everything is installed and built again, twice. */
jest.setTimeout(900_000);

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'vestibule-image-'));
const [tag, stage, again] = ['built', 'stage', 'again'].map(
  (name) => `localhost/vestibule-test/${name}:${process.pid}`,
) as [string, string, string];
/** A time that no other run builds for, by which all it built is found again. */
const [epoch, revision] = [1_600_000_000 + process.pid, 'f'.repeat(40)];
const volumes: string[] = [];
let running: Container[] = [];
let etcd: EtcdServer | undefined;
let id: string;

/** What .dockerignore is to leave out, and what it is not. */
const [strays, kept] = [
  [
    '.git/stray',
    '.cache/stray',
    'node_modules/stray/stray',
    'ui/node_modules/stray',
    'dist/stray',
    'data/stray',
    'ui/stray.log',
    'docs/stray',
    'hack/tools/stray',
    'test/stray.ts',
    'test/bench/stray.ts',
  ],
  ['ui/stray'],
];

beforeAll(() => {
  checkout(join(folder, 'context'));
  for (const file of [...strays, ...kept]) {
    mkdirSync(dirname(join(folder, 'context', file)), { recursive: true });
    writeFileSync(join(folder, 'context', file), '');
  }
  build(join(folder, 'context'), { tag: stage, epoch, revision, target: 'build' });
  id = build(join(folder, 'context'), { tag, epoch, revision });
  unpack();
});
afterEach(async () => {
  for (const one of running.splice(0)) await one.remove();
});
afterAll(async () => {
  await etcd?.stop();
  if (volumes.length > 0) engine(['volume', 'rm', '--force', ...volumes]);
  removeBuilt(epoch);
  rmSync(folder, { recursive: true, force: true });
});

/**
 * The image's layers as they would be pushed, the lowest first, and the files of those that the
 * Dockerfile adds, in `tree`.
 */
let layers: { readonly ours: boolean; readonly size: number; readonly names: readonly string[] }[];
const tree = join(folder, 'tree');
function unpack(): void {
  const saved = join(folder, 'saved');
  for (const one of [saved, tree]) mkdirSync(one);
  engine(['save', '--quiet', '--format=docker-archive', `--output=${saved}.tar`, tag]);
  execFileSync('tar', ['-x', '-C', saved, '-f', `${saved}.tar`]);
  const [{ Layers: files }] = JSON.parse(readFileSync(join(saved, 'manifest.json'), 'utf8')) as [
    { Layers: string[] },
  ];
  const below = Number(engine(['image', 'inspect', '--format={{len .RootFS.Layers}}', base]));
  layers = files.map((file, i) => {
    if (i >= below) {
      execFileSync('tar', ['-x', '-C', tree, '--no-same-owner', '-f', join(saved, file)]);
    }
    return {
      ours: i >= below,
      size: gzipSync(readFileSync(join(saved, file))).length,
      names: execFileSync('tar', ['-t', '-f', join(saved, file)], {
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
      })
        .split('\n')
        .filter(Boolean)
        .map((name) => `/${name}`),
    };
  });
  rmSync(saved, { recursive: true });
  rmSync(`${saved}.tar`);
}

const filesIn = (at: string): string[] =>
  readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((one) => !one.isDirectory())
    .map((one) => join(one.parentPath, one.name));

/** A volume that is made when it is first mounted. */
function volume(): string {
  const name = `vestibule-test-${process.pid}-${volumes.length}`;
  volumes.push(name);
  return `--volume=${name}:/var/lib/vestibule`;
}

/** A folder of files for a container to read. */
function shown(files: Readonly<Record<string, string>>): string {
  const at = mkdtempSync(join(folder, 'shown-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(at, name), text);
  chmodSync(at, 0o755);
  return at;
}

const client = `apiVersion: id.vestibule.org/v1beta1
kind: Client
metadata: { name: app }
spec:
  displayName: The app
  type: Public
  redirectURIs: [https://app.example.test/callback]
  scopes: [{ name: openid, required: true }, { name: email, required: true }]
`;

/** The compose file's service on a port of this machine, on the given store, with a Client. */
async function serve(
  store: readonly string[],
  options: readonly string[],
  port?: number,
): Promise<
  Reached & { readonly container: Container; readonly port: number; readonly asked: string[] }
> {
  port ??= (await freePorts(1))[0]!;
  const {
    services: {
      vestibule: {
        command: [word, ...line],
      },
    },
  } = parse(readFileSync(join(root, 'deploy/examples/compose.yaml'), 'utf8'));
  const args = (line as string[])
    .filter((arg) => !arg.startsWith('--data-dir'))
    .map((arg) => arg.replace('localhost:8080', `localhost:${port}`));
  const container = new Container(
    tag,
    [word, ...args, `--port=${port}`, ...store, '--manifests=/etc/vestibule/manifests'],
    [`--volume=${shown({ 'client.yaml': client })}:/etc/vestibule/manifests:ro`, ...options],
  );
  running.push(container);
  expect(await container.ready).toMatch(new RegExp(`^ready http://localhost:${port} `));
  return {
    container,
    port,
    tab: () => new Tab(`http://127.0.0.1:${port}`, `http://localhost:${port}`),
    asked: ['healthcheck', `--url=http://127.0.0.1:${port}`, `--issuer=http://localhost:${port}`],
  };
}
const embedded = ['--data-dir=/var/lib/vestibule/data'];

test('of the context, .dockerignore keeps out what the image is not made of', () => {
  const found = engine([
    'run',
    '--rm',
    '--network=none',
    '--ulimit=nofile=4096:4096',
    '--ulimit=nproc=4096:4096',
    stage,
    'find',
    '/build',
    '-name',
    'stray*',
  ])
    .split('\n')
    .filter(Boolean)
    .sort();
  expect(found).toEqual(kept.map((file) => `/build/${file}`));
});

test('it runs as an unprivileged user, names its source, and listens', () => {
  const [
    {
      Config: config,
      Created: created,
      RootFS: { Layers: all },
    },
  ] = JSON.parse(engine(['image', 'inspect', tag])) as [any];
  expect(config).toMatchObject({
    User: '65532:65532',
    Entrypoint: ['/usr/local/bin/node', '--disable-sigusr1', '/app/bin/vestibule'],
    Cmd: ['serve'],
    ExposedPorts: { '8080/tcp': {} },
  });
  expect(config.Env).toContain('NODE_ENV=production');
  expect(config.Labels).toMatchObject({
    'org.opencontainers.image.title': 'Vestibule',
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.version': release,
    'org.opencontainers.image.revision': revision,
  });
  expect([Date.parse(created), all.length - layers.filter(({ ours }) => !ours).length]).toEqual([
    epoch * 1_000,
    3,
  ]);
});

test('it holds Node, what runs, and no shell, npm or package manager', () => {
  const names = layers.flatMap((layer) => layer.names);
  expect(names).toContain('/usr/local/bin/node');
  expect(
    names.filter((name) =>
      /\/s?bin\/((ba|da|a|z)?sh|busybox|np[mx]|corepack|yarn|pnpm|apt\b.*|dpkg\b.*|perl|python.*|g?cc|curl|wget)$|^\/app\/node_modules\/(npm|typescript|vite|jest|playwright-core)\/$|\.npmrc$|npm-ca$/.test(
        name,
      ),
    ),
  ).toEqual([]);
  expect(
    names
      .filter((name) => /^\/app\/[^/]+\/?$/.test(name))
      .map((name) => name.slice(5))
      .sort(),
  ).toEqual([
    'LICENSE',
    'README.md',
    'bin/',
    'dist/',
    'node_modules/',
    'npm-shrinkwrap.json',
    'package.json',
    'sbom.cdx.json',
  ]);
  const megabytes = (bytes: number[]): number => bytes.reduce((all, one) => all + one, 0) / 1e6;
  expect(megabytes(filesIn(join(tree, 'app')).map((file) => statSync(file).size))).toBeLessThan(60);
  expect(megabytes(layers.map(({ size }) => size))).toBeLessThan(80);
});

test('its bill of materials names every package in it and no other', () => {
  const { installed, named } = packagesOf(join(tree, 'app'));
  expect(named).toEqual(installed);
  const { dependencies } = JSON.parse(readFileSync(join(tree, 'app/package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  expect(installed).toEqual(
    expect.arrayContaining(
      Object.entries(dependencies).map(([name, version]) => `${name}@${version}`),
    ),
  );
  const { metadata, components } = JSON.parse(
    readFileSync(join(tree, 'app/sbom.cdx.json'), 'utf8'),
  );
  expect(metadata).toMatchObject({
    timestamp: new Date(epoch * 1_000).toISOString(),
    component: { name: 'vestibule', version: release },
  });
  expect(
    components.filter(
      ({ hashes, purl }: any) => hashes?.length !== 1 || !purl.startsWith('pkg:npm/'),
    ),
  ).toEqual([]);
});

test('built once more for the same time, it is the same to the bit', () => {
  expect(build(join(folder, 'context'), { tag: again, epoch, revision, cached: false })).toBe(id);
});

test('it prints its release, checks settings, and reports wrong ones on standard error', () => {
  expect(run(tag, ['version'])).toEqual({ code: 0, out: `${release}\n`, error: '' });
  const checked = run(tag, ['config', 'check', ...embedded, '--mock-mail', '--output=json']);
  expect([checked.code, JSON.parse(checked.out)]).toEqual([0, expect.anything()]);
  expect(run(tag, [])).toEqual({
    code: 2,
    out: '',
    error: expect.stringMatching(/^vestibule: --data-dir is missing: /),
  });
  expect(run(tag, ['serve', ...embedded, '--mock-mail', '--port=many'])).toEqual({
    code: 2,
    out: '',
    error: 'vestibule: --port must be a number\n',
  });
  expect(run(tag, ['serve', '--data-dir=/srv/data', '--mock-mail'])).toEqual({
    code: 1,
    out: '',
    error: expect.stringMatching(/^vestibule: E(NOENT|ROFS): .*\/srv\/data/),
  });
});

test('confined as in the chart, it serves sign-ins and goes on after SIGTERM', async () => {
  const kept = volume();
  const service = await serve(embedded, [kept]);
  const { container, asked } = service;
  expect(container.exec('/usr/local/bin/node', '/app/bin/vestibule', ...asked)).toEqual({
    code: 0,
    out: expect.stringMatching(/ is ready\n$/),
    error: '',
  });
  expect(run(tag, asked)).toEqual({
    code: 0,
    out: expect.stringMatching(/ is ready\n$/),
    error: '',
  });
  expect(
    run(
      tag,
      asked.map((arg) => arg.replace('issuer=http://localhost', 'issuer=http://elsewhere.test')),
    ),
  ).toMatchObject({ code: 1, out: '' });
  const begun = await signIn(service, 'ada@example.test');
  expect((await redeem(service, begun)).body).toMatchObject({ token_type: 'Bearer' });
  expect(await container.stop()).toBe(0);

  const next = await serve(embedded, [kept], service.port);
  const { I } = await begin(next, { tab: begun.tab });
  expect(I).toMatch(/^https:\/\/app.example.test\/callback\?code=/);
  expect(await next.container.stop()).toBe(0);
});

test('as its first process it has no rights and writes to its volume alone', async () => {
  const { container, asked } = await serve(embedded, [volume()]);
  const status = Object.fromEntries(
    container
      .evaluate('console.log(fs.readFileSync("/proc/1/status", "utf8"))')
      .split('\n')
      .map((one) => one.split(/:\s+/, 2)),
  );
  expect(status).toMatchObject({
    Uid: '65532\t65532\t65532\t65532',
    Gid: '65532\t65532\t65532\t65532',
    NoNewPrivs: '1',
    Seccomp: '2',
  });
  for (const name of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
    expectFor(name, status[name]).toEqual('0'.repeat(16));
  }
  const write = (at: string): string =>
    container
      .evaluate(
        `try { fs.writeFileSync("${at}/written", ""); console.log("written") } catch ({ code }) { console.log(code) }`,
      )
      .trim();
  expect(
    Object.fromEntries(
      [
        '/',
        '/app',
        '/etc',
        '/home/nonroot',
        '/tmp',
        '/run',
        '/usr/local/bin',
        '/var/lib',
        '/var/lib/vestibule',
        '/var/lib/vestibule/data',
      ].map((at) => [at, write(at)]),
    ),
  ).toEqual({
    ...Object.fromEntries(
      ['/', '/app', '/etc', '/home/nonroot', '/tmp', '/run', '/usr/local/bin', '/var/lib'].map(
        (at) => [at, 'EROFS'],
      ),
    ),
    '/var/lib/vestibule': 'written',
    '/var/lib/vestibule/data': 'written',
  });
  expect(container.exec('/bin/sh', '-c', 'true').code).not.toBe(0);
  container.signal('USR1');
  expect(container.exec('/usr/local/bin/node', '/app/bin/vestibule', ...asked).code).toBe(0);
  expect(container.complaints).not.toMatch(/debugger/i);
  expect(await container.stop()).toBe(0);
});

test('what the how-to runs in the container saves the store while it is served', async () => {
  const { container } = await serve(embedded, [volume()]);
  const commands = [
    ...readFileSync(join(root, 'docs/how-to/kubernetes.md'), 'utf8').matchAll(
      /kubectl exec .* vestibule-0 -- (.*)$/gm,
    ),
  ].map(([, line]) => line!.replace(/ > .*/, ''));
  const words = commands.map(
    (line) =>
      JSON.parse(
        execFileSync(
          'bash',
          ['--norc', '-ec', `"$NODE" --print 'JSON.stringify(process.argv.slice(1))' -- ${line}`],
          { encoding: 'utf8', env: { NODE: process.execPath } },
        ),
      ) as string[],
  );
  expect(words.map((word) => container.exec(...word))).toEqual([
    { code: 0, out: expect.stringContaining('saved'), error: '' },
    { code: 0, out: expect.stringMatching(/.{1000}/s), error: '' },
    { code: 0, out: '', error: '' },
  ]);
  expect(await container.stop()).toBe(0);
});

test('with keys that it made itself it serves sign-ins on etcd', async () => {
  etcd = await startEtcd();
  const keys = shown({});
  chmodSync(keys, 0o777);
  expect(
    run(
      tag,
      ['keys', 'new', '/etc/vestibule/keys/keys.json'],
      [`--volume=${keys}:/etc/vestibule/keys`],
    ).code,
  ).toBe(0);
  const service = await serve(
    [
      `--etcd-servers=${etcd.endpoint}`,
      '--keys-file=/etc/vestibule/keys/keys.json',
      '--allow-mock-mail',
    ],
    [`--volume=${keys}:/etc/vestibule/keys:ro`],
  );
  const begun = await signIn(service, 'ada@example.test');
  expect((await redeem(service, begun)).body).toMatchObject({ token_type: 'Bearer' });
  expect(run(tag, service.asked).code).toBe(0);
  expect(await service.container.stop()).toBe(0);
});
