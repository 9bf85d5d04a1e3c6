import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { parse } from 'yaml';
import { makeCertificate } from '../../cmd/vestibule/serve/tls/self-signed-certificate.js';
import { release } from '../../observability/build-info.js';
import { Container, engine, run } from '../cluster/container.js';
import { freePorts } from '../storage/etcd-server.js';
import { Inbox } from '../support/people/inbox.js';
import { Tab } from '../support/people/tab.js';
import { codeFrom, emptyFolder, released, removeFolders, signIn } from './artefacts.js';

jest.setTimeout(600_000);
afterAll(removeFolders);

const name = `localhost/vestibule:${release}`;
const layout = emptyFolder();
const blob = (digest: string): Buffer =>
  readFileSync(join(layout, 'blobs', digest.replace(':', '/')));
const json = (digest: string): any => JSON.parse(blob(digest).toString());
const digestOf = (bytes: Buffer): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** What an ELF file is built for: e_machine. */
function machineOf(file: string): number {
  const head = Buffer.alloc(20);
  readSync(openSync(file, 'r'), head);
  expect(head.subarray(0, 4).toString('latin1')).toBe('\x7fELF');
  return head.readUInt16LE(18);
}

/** Unpacks the layers of an image over each other; the folder, its manifest and its configuration. */
function unpack(architecture: string): { tree: string; config: any } {
  const [top] = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')).manifests;
  const found = json(top.digest).manifests.find(
    ({ platform }: any) => platform.architecture === architecture,
  );
  const manifest = json(found.digest);
  const config = json(manifest.config.digest);
  const tree = emptyFolder();
  for (const [i, { digest, size }] of manifest.layers.entries()) {
    const bytes = blob(digest);
    const layer = gunzipSync(bytes);
    expect([digestOf(bytes), bytes.length, digestOf(layer)]).toEqual([
      digest,
      size,
      config.rootfs.diff_ids[i],
    ]);
    const args = ['-x', '-C', tree, '--no-same-owner', '--keep-directory-symlink'];
    execFileSync('tar', args, { input: layer });
  }
  return { tree, config };
}

/** The packages below a folder of modules, as name@version. */
const packagesIn = (folder: string): string[] => [
  ...new Set(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => /(^|\/node_modules\/)(@[^/]+\/)?[^/@]+\/package\.json$/.test(path))
      .map((path) => JSON.parse(readFileSync(join(folder, path), 'utf8')))
      .map((one) => `${one.name}@${one.version}`),
  ),
];

const withArtefacts = released ? describe : describe.skip;
withArtefacts('the image of the release (skipped without VESTIBULE_RELEASE: .ci/release)', () => {
  beforeAll(() => {
    const file = join(released!, `vestibule-${release}-image.tar`);
    execFileSync('tar', ['-x', '-C', layout, '-f', file]);
  });

  test.each([
    ['amd64', 62, 'x86_64-linux-gnu'],
    ['arm64', 183, 'aarch64-linux-gnu'],
  ])(
    'for %s has its Node, its native code and its bill of materials',
    (architecture, elf, libs) => {
      const { tree, config } = unpack(architecture);
      expect(config).toMatchObject({
        architecture,
        os: 'linux',
        config: {
          User: '65532:65532',
          Entrypoint: ['/usr/local/bin/node', '--disable-sigusr1', '/app/bin/vestibule'],
          Cmd: ['serve'],
          ExposedPorts: { '8080/tcp': {} },
          Env: expect.arrayContaining([
            'NODE_ENV=production',
            'NODE_OPTIONS=--max-semi-space-size=16',
            'MALLOC_ARENA_MAX=1',
          ]),
          Labels: expect.objectContaining({ 'org.opencontainers.image.version': release }),
        },
      });
      const builds = join(tree, 'app/node_modules/classic-level/prebuilds');
      const native = readdirSync(builds, { recursive: true, encoding: 'utf8' }).filter((path) =>
        path.endsWith('.node'),
      );
      expect(native.length).toBeGreaterThan(0);
      for (const file of [
        join(tree, 'usr/local/bin/node'),
        join(tree, 'usr/lib', libs, 'libc.so.6'),
        ...native.map((path) => join(builds, path)),
      ]) {
        expect([file, machineOf(file)]).toEqual([file, elf]);
      }
      expect(['usr/bin', 'usr/sbin'].flatMap((path) => readdirSync(join(tree, path)))).toEqual([]);
      expect(readFileSync(join(tree, 'etc/ssl/certs/ca-certificates.crt'), 'utf8')).toContain(
        'BEGIN CERTIFICATE',
      );
      const bill = readFileSync(join(tree, 'app/sbom.cdx.json'), 'utf8');
      expect(bill).toBe(
        readFileSync(
          join(released!, `vestibule-${release}-image-${architecture}.cdx.json`),
          'utf8',
        ),
      );
      const { components } = JSON.parse(bill) as { components: any[] };
      const status = join(tree, 'var/lib/dpkg/status.d');
      const debian = readdirSync(status).map((file) => {
        const text = readFileSync(join(status, file), 'utf8');
        return `${file}@${/^Version: (.*)$/m.exec(text)![1]}`;
      });
      const installed = components.filter(({ properties }) => properties?.[0].value !== 'bundled');
      expect(
        installed
          .map((one) => `${one.group ? `${one.group}/` : ''}${one.name}@${one.version}`)
          .sort(),
      ).toEqual(
        [
          ...packagesIn(join(tree, 'app/node_modules')),
          ...debian,
          `node@${process.versions.node}`,
        ].sort(),
      );
    },
  );

  const engineHere = process.env.ENGINE ? test : test.skip;
  engineHere('loaded, it serves as the compose file says (skipped without an engine)', async () => {
    engine(['load', '--input', join(released!, `vestibule-${release}-image.tar`)]);
    expect(run(name, ['version'])).toEqual({ code: 0, out: `${release}\n`, error: '' });
    const { services } = parse(readFileSync(join(released!, 'compose/compose.yaml'), 'utf8'));
    const { image, command, environment } = services.vestibule;
    expect(image).toBe(name);
    const [port, secure] = await freePorts(2);
    const inbox = new Inbox();
    const secrets = join(emptyFolder(), 'secrets');
    mkdirSync(secrets);
    const { cert, key } = await makeCertificate(['id.example.org'], Date.now());
    const files = { 'tls.crt': cert, 'tls.key': key, 'smtp-url': await inbox.listen() };
    for (const [file, text] of Object.entries(files)) {
      writeFileSync(join(secrets, file), text, { mode: 0o600 });
    }
    execFileSync('chown', ['-R', '65532', secrets]);
    chmodSync(join(secrets, '..'), 0o755);
    const args = (command as string[]).map((arg) =>
      arg.replace('--secure-port=8443', `--secure-port=${secure}`),
    );
    const volume = `vestibule-release-test-${process.pid}`;
    const container = new Container(
      name,
      [...args, `--port=${port}`],
      [
        `--volume=${volume}:/var/lib/vestibule`,
        `--volume=${secrets}:/run/secrets/vestibule:ro`,
        ...Object.entries(environment).map(([variable, value]) => `--env=${variable}=${value}`),
      ],
    );
    try {
      expect(await container.ready).toMatch(/^ready https:\/\/id\.example\.org /);
      const tab = new Tab(`https://127.0.0.1:${secure}`, 'https://id.example.org');
      tab.tls = { ca: cert, servername: 'id.example.org' };
      tab.headers = { host: 'id.example.org' };
      expect(await signIn(tab, 'you@example.org', () => codeFrom(inbox))).toBe('you@example.org');
    } finally {
      await container.remove();
      await inbox.close();
      engine(['volume', 'rm', '--force', volume]);
      engine(['rmi', '--force', name]);
    }
  });
});
