import { execFileSync, spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { afterAll, expect, jest, test } from '@jest/globals';
import { release } from '../../observability/build-info.js';
import { checkout } from '../support/checkout.js';
import { expectFor } from '../support/expect-for.js';
import { packagesOf } from './container.js';

/** Everything is installed and built again. */
jest.setTimeout(900_000);

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'vestibule-image-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Instructions of the Dockerfile, by stage. */
const stages = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter(Boolean)
  .reduce<string[][]>((found, line) => {
    if (line.startsWith('FROM ')) found.push([]);
    found.at(-1)?.push(line);
    return found;
  }, []);
const last = (word: string): string =>
  stages
    .at(-1)!
    .findLast((line) => line.startsWith(`${word} `))!
    .slice(word.length + 1);

/** Whether .dockerignore leaves a file out: the last line that fits decides. */
const ignored = (file: string): boolean =>
  readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .reduce((out, line) => {
      const pattern = line.replace(/^!/, '');
      return [pattern, `${pattern}/**`].some((one) => matchesGlob(file, one))
        ? !line.startsWith('!')
        : out;
    }, false);

test('the last stage runs as an unprivileged user, on Node alone', () => {
  expect([last('USER'), JSON.parse(last('CMD')), JSON.parse(last('ENTRYPOINT'))]).toEqual([
    '65532:65532',
    ['serve'],
    ['/usr/local/bin/node', '--disable-sigusr1', '/app/bin/vestibule'],
  ]);
  expect(stages.at(-1)!.filter((line) => /^(RUN|HEALTHCHECK|VOLUME|ADD)/.test(line))).toEqual([]);
  expect(stages.flat().join('\n')).toContain(`ARG VERSION=${release}`);
});

test('its steps, in an empty folder, make what starts and knows the release', async () => {
  const [build, image] = [join(folder, 'build'), join(folder, 'image')];
  checkout(build, ignored);
  for (const line of stages[0]!.filter((one) => one.startsWith('RUN '))) {
    execFileSync(
      'bash',
      ['--norc', '-ec', line.slice(4).replaceAll(/(^| )\/image/g, `$1${image}`)],
      {
        cwd: build,
        stdio: ['ignore', 'ignore', 'inherit'],
        env: {
          PATH: process.env.PATH,
          HOME: folder,
          SOURCE_DATE_EPOCH: '1700000000',
          NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS ?? '',
        },
      },
    );
  }
  for (const at of [
    image,
    `${image}.data`,
    ...readdirSync(image, { recursive: true, encoding: 'utf8' }).map((name) => join(image, name)),
  ]) {
    if (lstatSync(at).mtimeMs !== 1_700_000_000_000) throw new Error(`${at} has a time of its own`);
  }
  expect(readdirSync(image).sort()).toEqual([
    'LICENSE',
    'README.md',
    'bin',
    'dist',
    'node_modules',
    'npm-shrinkwrap.json',
    'package.json',
    'sbom.cdx.json',
  ]);
  for (const name of ['typescript', 'jest', 'vite', 'playwright-core']) {
    expectFor(name, existsSync(join(image, 'node_modules', name))).toEqual(false);
  }
  const { installed, named } = packagesOf(image);
  expect(named).toEqual(installed);
  rmSync(build, { recursive: true });
  const program = join(image, 'bin/vestibule');
  expect(execFileSync(process.execPath, [program, 'version'], { encoding: 'utf8' })).toBe(
    `${release}\n`,
  );
  const child = spawn(
    process.execPath,
    [program, 'serve', '--port', '0', '--data-dir', join(folder, 'data'), '--mock-mail'],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: process.env.PATH } },
  );
  try {
    const said = await new Promise<string>((resolve, reject) => {
      child.stdout.once('data', (text: Buffer) => resolve(text.toString()));
      child.once('exit', (code) => reject(new Error(`it ended with ${code}`)));
    });
    const [, , url] = said.trim().split(' ');
    expect(
      execFileSync(process.execPath, [program, 'healthcheck', '--url', url!], { encoding: 'utf8' }),
    ).toMatch(/ is ready\n$/);
    const ended = new Promise((resolve) => {
      child.once('exit', resolve);
    });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  } finally {
    child.kill('SIGKILL');
  }
});
