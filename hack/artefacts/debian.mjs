/**
 * The Debian packages of the image: `node hack/artefacts/debian.mjs` writes the newest of the release
 * into debian.json, with their digests, and prints what changed. It needs apt-get, on any release of
 * Debian or Ubuntu.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from './archive.mjs';

const file = join(import.meta.dirname, 'debian.json');

/** What Node loads, whom the image trusts, and what says which Debian it is. */
const names = [
  'base-files',
  'ca-certificates',
  'gcc-12-base',
  'libc6',
  'libgcc-s1',
  'libstdc++6',
  'netbase',
  'tzdata',
];
const architectures = ['amd64', 'arm64'];
const release = 'bookworm';
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Returns the pinned packages of an architecture: name, version and sha256 of each. */
export const pinned = (architecture) =>
  JSON.parse(readFileSync(file, 'utf8')).packages.filter(
    (one) => one.architecture === architecture,
  );

/** Sources of apt: those of the time of the pin, or what Debian has today. */
const sources = (time) =>
  [
    ['debian', release],
    ['debian', `${release}-updates`],
    ['debian-security', `${release}-security`],
  ]
    .map(([archive, suite]) => {
      const at = time
        ? `http://snapshot.debian.org/archive/${archive}/${time}`
        : `http://deb.debian.org/${archive}`;
      return `deb [signed-by=${keyring} check-valid-until=no] ${at} ${suite} main\n`;
    })
    .join('');

/** Calls `use` with apt of an architecture, which has a state of its own and changes no system. */
function withApt(architecture, time, use) {
  const state = mkdtempSync(join(tmpdir(), 'vestibule-apt-'));
  try {
    for (const folder of ['lists/partial', 'cache/archives/partial', 'got']) {
      mkdirSync(join(state, folder), { recursive: true });
    }
    writeFileSync(join(state, 'sources.list'), sources(time));
    writeFileSync(join(state, 'status'), '');
    const options = [
      `Dir::State=${state}`,
      `Dir::State::Lists=${state}/lists`,
      `Dir::State::status=${state}/status`,
      `Dir::Cache=${state}/cache`,
      `Dir::Etc::SourceList=${state}/sources.list`,
      'Dir::Etc::SourceParts=/dev/null',
      `APT::Architecture=${architecture}`,
      `APT::Architectures=${architecture}`,
      'APT::Sandbox::User=root',
      'Acquire::Languages=none',
    ].flatMap((one) => ['-o', one]);
    const run = (program, ...args) =>
      execFileSync(program, [...options, ...args], {
        cwd: join(state, 'got'),
        encoding: 'utf8',
        maxBuffer: 2 ** 26,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    run('apt-get', 'update', '-qq', '--error-on=any');
    return use(run, join(state, 'got'));
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
}

/** Fetches the missing packages of an architecture into the cache. */
function fetchMissing(architecture, missing, time, cache) {
  withApt(architecture, time, (run, got) => {
    run('apt-get', 'download', '-qq', ...missing.map(({ name, version }) => `${name}=${version}`));
    for (const name of readdirSync(got)) {
      renameSync(join(got, name), join(cache, `${sha256(join(got, name))}.deb`));
    }
  });
}

/**
 * Returns the files of the pinned packages of an architecture, which the folder `cache` keeps by their
 * digest. Throws if Debian does not have one any more: its snapshot archive keeps every version.
 */
export function fetchPackages(architecture, cache) {
  mkdirSync(cache, { recursive: true });
  const { time } = JSON.parse(readFileSync(file, 'utf8'));
  const place = ({ sha256: digest }) => join(cache, `${digest}.deb`);
  const missing = () => pinned(architecture).filter((one) => !existsSync(place(one)));
  for (const source of ['', time]) {
    if (missing().length === 0) break;
    try {
      fetchMissing(architecture, missing(), source, cache);
    } catch (error) {
      if (source === time) throw error;
    }
  }
  const lost = missing();
  if (lost.length > 0) {
    throw new Error(`Debian has other bytes than debian.json says for ${lost[0].name}`);
  }
  return pinned(architecture).map(place);
}

/** Returns the newest packages of an architecture. */
const newest = (architecture) =>
  withApt(architecture, '', (run) =>
    names.map((name) => {
      const shown = run('apt-cache', 'show', '--no-all-versions', name);
      const field = (word) => new RegExp(`^${word}: (.*)$`, 'm').exec(shown)[1];
      return { architecture, name, version: field('Version'), sha256: field('SHA256') };
    }),
  );

if (import.meta.main) {
  const time = `${new Date().toISOString().slice(0, 10).replaceAll('-', '')}T000000Z`;
  const packages = architectures.flatMap(newest);
  const text = `{\n  "release": "${release}",\n  "time": "${time}",\n  "packages": [\n${packages
    .map((one) => `    ${JSON.stringify(one)}`)
    .join(',\n')}\n  ]\n}\n`;
  writeFileSync(file, text);
}
