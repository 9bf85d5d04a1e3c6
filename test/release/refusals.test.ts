import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { release } from '../../observability/build-info.js';
import { emptyFolder, removeFolders, root } from './artefacts.js';

afterAll(removeFolders);

/** What hack/release reads before it builds. */
const read = [
  'hack/release',
  'package.json',
  'observability/build-info.ts',
  'deploy/Dockerfile',
  'deploy/chart/Chart.yaml',
  'deploy/chart/CHANGELOG.md',
  'CHANGELOG.md',
];
let checkout: string;
const git = (...args: string[]): void => {
  execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.test', ...args], {
    cwd: checkout,
    stdio: 'ignore',
  });
};
beforeEach(() => {
  checkout = emptyFolder();
  for (const path of read) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    cpSync(join(root, path), join(checkout, path));
  }
  git('init');
  git('add', '--all');
  git('commit', '--message=all');
});

/** Replaces a text of a file, and commits. */
function change(path: string, from: string, to: string): void {
  const text = readFileSync(join(checkout, path), 'utf8');
  writeFileSync(join(checkout, path), text.replace(from, to));
  git('commit', '--all', '--message=changed');
}

/** Creates a file that git does not know. */
const create = (path: string): void => writeFileSync(join(checkout, path), '');

const rows: [what: string, prepare: () => void, args: string[], says: RegExp][] = [
  ['no version', () => {}, [], /a version is missing/],
  ['what is no version', () => {}, ['v1'], /v1 is no version such as 1\.2\.3/],
  ['a version of four numbers', () => {}, ['0.1.0.1'], /is no version/],
  ['another version', () => {}, ['9.9.9'], /package\.json is not of release 9\.9\.9/],
  [
    'a chart of another version',
    () => change('deploy/chart/Chart.yaml', `version: ${release}`, 'version: 9.9.9'),
    [release],
    /Chart\.yaml is not of release/,
  ],
  [
    'a chart of another app',
    () => change('deploy/chart/Chart.yaml', `appVersion: "${release}"`, 'appVersion: "9.9.9"'),
    [release],
    /it has no line 'appVersion/,
  ],
  [
    'a program of another version',
    () => change('observability/build-info.ts', release, '9.9.9'),
    [release],
    /build-info\.ts is not of release/,
  ],
  [
    'a changelog without it',
    () => change('CHANGELOG.md', `## [${release}]`, '## [0.0.9]'),
    [release],
    /^hack\/release: CHANGELOG\.md has no section/,
  ],
  [
    'a changelog of the chart without it',
    () => change('deploy/chart/CHANGELOG.md', `## [${release}]`, '## [0.0.9]'),
    [release],
    /deploy\/chart\/CHANGELOG\.md has no section/,
  ],
  ['a file that git does not know', () => create('stray'), [release], /are not committed/],
  [
    'a change that is not committed',
    () =>
      writeFileSync(
        join(checkout, 'package.json'),
        `${readFileSync(join(root, 'package.json'), 'utf8')}\n`,
      ),
    [release],
    /are not committed/,
  ],
  ['a folder with files', () => {}, [release, '.git'], /\.git is not empty/],
  ['a key that is none', () => {}, ['--key', 'package.json', release], /is no key of OpenSSH/],
  ['an option that is none', () => {}, ['--sign', release], /there is no --sign/],
];

test.each(rows)('it refuses %s', (_, prepare, args, says) => {
  prepare();
  const { status, stdout, stderr } = spawnSync('hack/release', args, {
    cwd: checkout,
    encoding: 'utf8',
  });
  expect({ failed: status !== 0, stdout, stderr }).toEqual({
    failed: true,
    stdout: '',
    stderr: expect.stringMatching(says),
  });
});

test('it refuses a key whose signatures differ each time', () => {
  const key = join(emptyFolder(), 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ecdsa', '-N', '', '-f', key]);
  const { status, stderr } = spawnSync('hack/release', ['--key', key, release], {
    cwd: checkout,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([1, expect.stringContaining('is not of type Ed25519')]);
});
