import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
// @ts-expect-error the commands have no types
import { writeProvenance, writeSums } from '../../hack/artefacts/statements.mjs';
import { blocksOf } from '../docs/pages.js';
import { emptyFolder, released, removeFolders } from './artefacts.js';

afterAll(removeFolders);

const folder = emptyFolder();
const keys = emptyFolder();
const names = ['chart/chart.tgz', 'image.tar', 'package.tgz'];
const [verify, check] = blocksOf('docs/how-to/release.md').filter(({ text }) =>
  /--check/.test(text),
);

/** Makes a key in a file. */
const makeKey = (file: string): void => {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(keys, file)]);
};
const allow = (line: string): void => writeFileSync(join(folder, 'allowed_signers'), line);
const publicKey = (file: string): string =>
  readFileSync(join(keys, `${file}.pub`), 'utf8')
    .split(' ')
    .slice(0, 2)
    .join(' ');
const allowed = (): string =>
  `releases@vestibule.org namespaces="vestibule-release" ${publicKey('key')}\n`;

beforeAll(() => {
  mkdirSync(join(folder, 'chart'));
  for (const name of names) writeFileSync(join(folder, name), `the bytes of ${name}`);
  writeProvenance(folder, names, {
    version: '1.2.3',
    revision: 'f'.repeat(40),
    source: 'https://git.example.test/vestibule',
    builder: 'https://ci.example.test',
    materials: [{ uri: 'pkg:npm/node@1', digest: { sha512: 'ab' } }],
  });
  makeKey('key');
  makeKey('other');
  writeSums(folder, [...names, 'provenance.json'], join(keys, 'key'));
  allow(allowed());
});

/** Runs the commands of the page in a folder; whether all succeed. */
const passes = (cwd: string, script = `${verify!.text}${check!.text}`): boolean =>
  spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', script], { cwd }).status === 0;

/** A copy of the files. */
function copy(): string {
  const at = emptyFolder();
  cpSync(folder, at, { recursive: true });
  return at;
}

/** Changes one bit of a file. */
function flip(file: string): void {
  const bytes = readFileSync(file);
  const at = Math.floor(bytes.length / 2);
  bytes[at] = bytes[at]! ^ 1;
  writeFileSync(file, bytes);
}

const filesIn = (at: string): string[] =>
  readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => relative(at, join(one.parentPath, one.name)))
    .sort();

test('the commands of the page accept what was made', () => {
  expect(passes(folder)).toBe(true);
  const out = execFileSync('bash', ['--norc', '-euc', check!.text], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(out.trim().split('\n').at(-1)).toBe('f'.repeat(40));
});

const withRelease = released ? test : test.skip;
withRelease('the sums and the provenance of the release are of its files (skipped without)', () => {
  expect(passes(released!, `sha256sum --check --strict SHA256SUMS\n${check!.text}`)).toBe(true);
  const listed = readFileSync(join(released!, 'SHA256SUMS'), 'utf8').match(/(?<=^\w{64} {2}).*$/gm);
  const own = new Set(['SHA256SUMS', 'SHA256SUMS.sig']);
  expect(listed!.sort()).toEqual(filesIn(released!).filter((name) => !own.has(name)));
});

test('they refuse any file of which one bit changed', () => {
  const files = filesIn(folder).filter((name) => name !== 'allowed_signers');
  expect(files).toEqual([...names, 'SHA256SUMS', 'SHA256SUMS.sig', 'provenance.json'].sort());
  for (const name of files) {
    const at = copy();
    flip(join(at, name));
    expect([name, passes(at)]).toEqual([name, false]);
  }
});

test('they refuse another key, another purpose, and a missing file', () => {
  const at = copy();
  const withAllowed = (line: string): boolean => {
    writeFileSync(join(at, 'allowed_signers'), line);
    return passes(at);
  };
  expect(withAllowed(allowed())).toBe(true);
  expect(withAllowed(allowed().replace(publicKey('key'), publicKey('other')))).toBe(false);
  expect(withAllowed(allowed().replace('vestibule-release', 'git'))).toBe(false);
  writeFileSync(join(at, 'allowed_signers'), allowed());
  execFileSync('rm', [join(at, 'image.tar')]);
  expect(passes(at)).toBe(false);
});

test('a provenance of other files is refused', () => {
  const at = copy();
  writeFileSync(join(at, 'image.tar'), 'other bytes');
  expect(passes(at, check!.text)).toBe(false);
});

test('a signature is the same each time, and a release without one says so', () => {
  const at = copy();
  writeSums(at, [...names, 'provenance.json'], join(keys, 'key'));
  for (const name of ['SHA256SUMS', 'SHA256SUMS.sig']) {
    expect(readFileSync(join(at, name), 'utf8')).toBe(readFileSync(join(folder, name), 'utf8'));
  }
  writeSums(at, names, '');
  expect(readFileSync(join(at, 'SHA256SUMS'), 'utf8')).toMatch(/^# This release is not signed\.\n/);
  expect(passes(at, 'sha256sum --check --strict SHA256SUMS')).toBe(true);
});

test('the provenance is a statement of in-toto with what SLSA requires', () => {
  const statement = JSON.parse(readFileSync(join(folder, 'provenance.json'), 'utf8'));
  expect(statement).toEqual({
    _type: 'https://in-toto.io/Statement/v1',
    subject: names.map((name) => ({
      name,
      digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: expect.stringMatching(/^https:/),
        externalParameters: { command: 'hack/release 1.2.3', ref: 'refs/tags/v1.2.3' },
        internalParameters: {},
        resolvedDependencies: [
          {
            uri: 'git+https://git.example.test/vestibule@refs/tags/v1.2.3',
            digest: { gitCommit: 'f'.repeat(40) },
          },
          { uri: 'pkg:npm/node@1', digest: { sha512: 'ab' } },
        ],
      },
      runDetails: { builder: { id: 'https://ci.example.test' } },
    },
  });
});
