/**
 * The image of a release as an OCI archive for amd64 and arm64: the layout of the OCI image format
 * 1.1 in a tar, made without a container engine and without a registry.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzip, sha256, tar } from './archive.mjs';
import { fetchPackages, pinned } from './debian.mjs';

const root = join(import.meta.dirname, '../..');
const type = (name) => `application/vnd.oci.image.${name}`;

/** What npm calls each architecture of the image. */
export const architectures = { amd64: 'x64', arm64: 'arm64' };

/** Returns the Node that the tests run on, of an architecture: version and SHA-512. */
export function testedNode(architecture) {
  const { packages } = JSON.parse(
    readFileSync(join(root, 'hack/tools/node/package-lock.json'), 'utf8'),
  );
  const name = `node-linux-${architectures[architecture]}`;
  const { version, integrity } = packages[`node_modules/${name}`];
  return { name, version, sha512: Buffer.from(integrity.slice(7), 'base64').toString('hex') };
}

/** Unpacks the tested Node of an architecture into /usr/local, with its license. */
function addNode(folder, architecture, work) {
  const { name, version, sha512 } = testedNode(architecture);
  execFileSync('npm', ['pack', '--silent', `--pack-destination=${work}`, `${name}@${version}`], {
    cwd: work,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const file = join(work, `${name}-${version}.tgz`);
  if (createHash('sha512').update(readFileSync(file)).digest('hex') !== sha512) {
    throw new Error(`${name}@${version} has other bytes than package-lock.json says`);
  }
  const local = join(folder, 'usr/local');
  mkdirSync(join(local, 'share/doc/node'), { recursive: true });
  const unpacked = ['package/bin/node', 'package/LICENSE'];
  execFileSync('tar', ['-x', '-f', file, '-C', work, ...unpacked]);
  mkdirSync(join(local, 'bin'));
  renameSync(join(work, 'package/bin/node'), join(local, 'bin/node'));
  renameSync(join(work, 'package/LICENSE'), join(local, 'share/doc/node/LICENSE'));
}

/**
 * Creates the file system below Node: the pinned packages of Debian without programs and manuals. As
 * in images without dpkg, each is described in /var/lib/dpkg/status.d, where scanners look for it.
 */
function addDebian(folder, architecture, cache) {
  const debs = fetchPackages(architecture, cache);
  const script = `. hack/tools/images/root.sh; root_of "$@"`;
  execFileSync('bash', ['-euc', script, 'root_of', folder, ...debs], { cwd: root });
  for (const name of ['bin', 'sbin', 'share/man', 'share/lintian', 'share/locale', 'share/bug']) {
    rmSync(join(folder, 'usr', name), { recursive: true, force: true });
  }
  for (const name of ['bin', 'sbin']) mkdirSync(join(folder, 'usr', name));
  const status = join(folder, 'var/lib/dpkg/status.d');
  mkdirSync(status, { recursive: true });
  for (const [i, { name }] of pinned(architecture).entries()) {
    writeFileSync(join(status, name), execFileSync('dpkg-deb', ['--field', debs[i]]));
  }
}

/** Copies the program with its installed packages; native code of other platforms is left out. */
function addProgram(folder, architecture, installed, bill) {
  cpSync(installed, join(folder, 'app'), { recursive: true, verbatimSymlinks: true });
  const builds = join(folder, 'app/node_modules/classic-level/prebuilds');
  const own = `linux-${architectures[architecture]}`;
  for (const name of readdirSync(builds)) {
    if (name !== own) rmSync(join(builds, name), { recursive: true });
  }
  writeFileSync(join(folder, 'app/sbom.cdx.json'), bill);
}

/** Returns the components of an image that npm does not know: Debian's packages, and Node. */
export function componentsBelow(architecture) {
  const { version, sha512 } = testedNode(architecture);
  const debian = pinned(architecture).map((one) => {
    const purl = `pkg:deb/debian/${one.name}@${encodeURIComponent(one.version)}?arch=${architecture}&distro=debian-12`;
    return {
      'bom-ref': purl,
      type: 'library',
      name: one.name,
      version: one.version,
      purl,
      hashes: [{ alg: 'SHA-256', content: one.sha256 }],
    };
  });
  const node = {
    'bom-ref': `node@${version}`,
    type: 'platform',
    name: 'node',
    version,
    purl: `pkg:generic/node@${version}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    hashes: [{ alg: 'SHA-512', content: sha512 }],
  };
  return [...debian, node];
}

/** Returns the instructions of the last stage of the Dockerfile: [word, rest] each. */
const lastStage = () =>
  readFileSync(join(root, 'deploy/Dockerfile'), 'utf8')
    .split(/^FROM .*$/m)
    .at(-1)
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter(Boolean)
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);

/** Returns the configuration of the image: what the last stage of the Dockerfile says. */
function configuration({ version, revision, source }) {
  const stage = lastStage();
  const all = (word) => stage.filter(([one]) => one === word).map(([, rest]) => rest);
  const pairs = (text) =>
    [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S*))/g)].map(([, name, quoted, plain]) => [
      name,
      (quoted ?? plain).replaceAll(
        /\$\{(\w+)\}/g,
        (_, one) => ({ VERSION: version, REVISION: revision, SOURCE: source })[one],
      ),
    ]);
  const env = all('ENV').flatMap(pairs);
  return {
    User: all('USER')[0],
    ExposedPorts: Object.fromEntries(all('EXPOSE').map((port) => [`${port}/tcp`, {}])),
    Env: [
      'PATH=/usr/local/bin:/usr/bin',
      'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
      ...env.map((one) => one.join('=')),
    ],
    Entrypoint: JSON.parse(all('ENTRYPOINT')[0]),
    Cmd: JSON.parse(all('CMD')[0]),
    WorkingDir: '/home/nonroot',
    Labels: Object.fromEntries(all('LABEL').flatMap(pairs)),
  };
}

/** A layout in a folder, to which blobs are added. */
class Layout {
  #folder;

  constructor(folder) {
    this.#folder = folder;
    mkdirSync(join(folder, 'blobs/sha256'), { recursive: true });
    writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  }

  /** Moves a file to its place; returns its descriptor. */
  addFile(mediaType, file) {
    const digest = sha256(file);
    const { size } = statSync(file);
    copyFileSync(file, join(this.#folder, 'blobs/sha256', digest));
    rmSync(file);
    return { mediaType, digest: `sha256:${digest}`, size };
  }

  /** Adds a value as JSON; returns its descriptor. */
  addJson(mediaType, value) {
    const file = join(this.#folder, 'blobs/json');
    writeFileSync(file, JSON.stringify(value));
    return this.addFile(mediaType, file);
  }
}

/** Makes a layer of a folder; returns its descriptor, and the digest of what is compressed. */
function addLayer(layout, folder, work, options) {
  const file = join(work, 'layer.tar');
  tar(file, folder, options);
  const diff = `sha256:${sha256(file)}`;
  gzip(file);
  rmSync(folder, { recursive: true });
  return { diff, descriptor: layout.addFile(type('layer.v1.tar+gzip'), file) };
}

/** Makes the image of one architecture; returns the descriptor of its manifest. */
function addArchitecture(layout, architecture, { work, cache, installed, bills, ...options }) {
  const { epoch } = options;
  const folder = (name) => {
    const path = join(work, `${architecture}-${name}`);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const [debian, node, program, data] = ['debian', 'node', 'program', 'data'].map(folder);
  addDebian(debian, architecture, cache);
  addNode(node, architecture, work);
  addProgram(program, architecture, installed, bills[architecture]);
  mkdirSync(join(data, 'vestibule'));
  const layers = [
    addLayer(layout, debian, work, { epoch, modes: 'kept' }),
    addLayer(layout, node, work, { epoch }),
    addLayer(layout, program, work, { epoch }),
    // The only writable folder, where a volume is mounted.
    addLayer(layout, join(data, 'vestibule'), work, {
      epoch,
      owner: 65532,
      under: 'var/lib/vestibule',
    }),
  ];
  const created = new Date(epoch * 1_000).toISOString().replace('.000', '');
  const config = layout.addJson(type('config.v1+json'), {
    created,
    architecture,
    os: 'linux',
    config: configuration(options),
    rootfs: { type: 'layers', diff_ids: layers.map(({ diff }) => diff) },
    history: ['debian', 'node', 'program', 'data'].map((comment) => ({ created, comment })),
  });
  const manifest = layout.addJson(type('manifest.v1+json'), {
    schemaVersion: 2,
    mediaType: type('manifest.v1+json'),
    config,
    layers: layers.map(({ descriptor }) => descriptor),
  });
  return { ...manifest, platform: { architecture, os: 'linux' } };
}

/**
 * Writes the image of every architecture as one OCI archive. `installed` is a folder with the files
 * of the package, `bills` the bill of materials of each architecture, `cache` a folder that
 * keeps Debian's packages, `work` an empty one.
 */
export function writeImage(file, options) {
  const { work, version, epoch } = options;
  const folder = join(work, 'layout');
  const layout = new Layout(folder);
  const manifests = Object.keys(architectures).map((one) => addArchitecture(layout, one, options));
  const index = { schemaVersion: 2, mediaType: type('index.v1+json') };
  const descriptor = layout.addJson(type('index.v1+json'), { ...index, manifests });
  const name = `localhost/vestibule:${version}`;
  const annotations = {
    'io.containerd.image.name': name,
    'org.opencontainers.image.ref.name': name,
  };
  const manifest = { ...descriptor, annotations };
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ ...index, manifests: [manifest] }));
  tar(file, folder, { epoch });
  rmSync(folder, { recursive: true });
}
