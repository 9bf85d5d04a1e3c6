import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { release } from '../../observability/build-info.js';
import { freePorts } from '../storage/etcd-server.js';
import { Inbox } from '../support/people/inbox.js';
import { mailTo } from '../support/people/signin.js';
import { Tab } from '../support/people/tab.js';
import {
  codeFrom,
  emptyFolder,
  environment,
  makePackage,
  packageFile,
  Running,
  released,
  removeFolders,
  root,
  signIn,
} from './artefacts.js';

/** npm installs what the package depends on. */
jest.setTimeout(300_000);

const name = `vestibule-${release}.tgz`;
let file: string;
let running: Running | undefined;
const inbox = new Inbox();

beforeAll(() => {
  file = packageFile();
});
afterEach(async () => {
  await running?.stop();
});
afterAll(async () => {
  await inbox.close();
  removeFolders();
});

const entriesOf = (archive: string): string[] =>
  execFileSync('tar', ['-tf', archive], { encoding: 'utf8' }).trim().split('\n').sort();
const fileOf = (path: string): string =>
  execFileSync('tar', ['-xOf', file, `package/${path}`], { encoding: 'utf8' });

/** The blocks of commands of the package's own page. */
const commands = (): string[] =>
  [...fileOf('README.md').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);

/** Runs commands of the page in a folder that has the package and nothing else. */
async function start(script: string): Promise<string> {
  const folder = emptyFolder();
  cpSync(file, join(folder, name));
  const [port] = await freePorts(1);
  running = new Running(script, folder, { ...environment(), VESTIBULE_PORT: String(port) });
  const [url] = await running.ready;
  return url!;
}

test('the package has what runs, and nothing that builds or tests it', () => {
  const entries = entriesOf(file).map((entry) => entry.replace(/^package\//, ''));
  const top = new Set(entries.map((entry) => entry.split('/')[0]).filter(Boolean));
  expect([...top].sort()).toEqual([
    'LICENSE',
    'README.md',
    'bin',
    'dist',
    'node_modules',
    'npm-shrinkwrap.json',
    'package.json',
  ]);
  const own = entries.filter((entry) => !entry.startsWith('node_modules/'));
  expect(own.filter((entry) => /^dist\/(?!$|bundle\/|ui\/)|\.ts$/.test(entry))).toEqual([]);
  const { dependencies, private: isPrivate } = JSON.parse(fileOf('package.json'));
  expect(isPrivate).toBeUndefined();
  expect(Object.values(dependencies).filter((one) => !/^\d+\.\d+\.\d+$/.test(String(one)))).toEqual(
    [],
  );
});

test('the package is the same bytes each time', () => {
  const one = released ? makePackage() : file;
  expect(readFileSync(one).equals(readFileSync(makePackage()))).toBe(true);
});

test('the first command of its page serves, and its mailbox has the code', async () => {
  const url = await start(commands()[0]!);
  const service = { tab: () => new Tab(url, url) };
  const address = 'you@example.org';
  const codeFor = async (): Promise<string> => (await mailTo(service, address)).code;
  expect(await signIn(new Tab(url, url), address, codeFor)).toBe(address);
});

test('the second sends the code by a mail server', async () => {
  const server = await inbox.listen();
  const url = await start(commands()[1]!.replace(/smtps:\/\/\S+/, server));
  expect(await signIn(new Tab(url, url), 'you@example.org', () => codeFrom(inbox))).toBe(
    'you@example.org',
  );
});

test('an older Node says which one is needed', () => {
  const older =
    'const { versions } = process; Object.defineProperty(process, "versions", { value: { ...versions, node: "20.1.0" } });';
  const folder = emptyFolder();
  cpSync(join(root, 'bin/vestibule'), join(folder, 'bin/vestibule.mjs'));
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      `--import=data:text/javascript,${encodeURIComponent(older)}`,
      join(folder, 'bin/vestibule.mjs'),
    ],
    { encoding: 'utf8' },
  );
  expect([status, stderr]).toEqual([
    2,
    `vestibule needs Node 24 or newer (this is ${process.version}): install it from https://nodejs.org\n`,
  ]);
});
