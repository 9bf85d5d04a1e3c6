import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
// @ts-expect-error the commands have no types
import { tarball } from '../../hack/artefacts/archive.mjs';
// @ts-expect-error the commands have no types
import { writePackage } from '../../hack/artefacts/package.mjs';
import { release } from '../../observability/build-info.js';
import { settles } from '../support/patience.js';
import { codeIn, type Inbox, textOf } from '../support/people/inbox.js';
import type { Tab } from '../support/people/tab.js';

export const root = join(import.meta.dirname, '../..');

/** The folder of artefacts that hack/release made: .ci/release names it. */
export const released = process.env.VESTIBULE_RELEASE;

const folders: string[] = [];

/** An empty folder, which `removeFolders` removes. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vestibule-release-'));
  folders.push(folder);
  return folder;
}

/** Removes what `emptyFolder` made. */
export function removeFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** Makes the npm package of the build; its file. */
export function makePackage(): string {
  const file = join(emptyFolder(), `vestibule-${release}.tgz`);
  const folder = join(emptyFolder(), 'package');
  writePackage(folder);
  tarball(file, folder, { epoch: 1_700_000_000, under: 'package' });
  return file;
}

/** The npm package of the release, or otherwise of the build. */
export const packageFile = (): string =>
  released ? join(released, `vestibule-${release}.tgz`) : makePackage();

const npmSetting = (name: string): string =>
  execFileSync('npm', ['config', 'get', name], { cwd: tmpdir(), encoding: 'utf8' }).trim();

/**
 * The environment of a person who has Node and npm, and nothing of this checkout. What npm fetched
 * before is found, and nothing is kept.
 */
export function environment(): NodeJS.ProcessEnv {
  const home = emptyFolder();
  const fetched = join(npmSetting('cache'), '_cacache');
  mkdirSync(join(home, '.npm'));
  if (existsSync(fetched)) symlinkSync(fetched, join(home, '.npm/_cacache'));
  return {
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS ?? '',
    npm_config_userconfig: npmSetting('userconfig'),
    npm_config_registry: npmSetting('registry'),
    npm_config_cache: join(home, '.npm'),
    npm_config_update_notifier: 'false',
    // npx asks before it installs.
    npm_config_yes: 'true',
  };
}

/** A command that goes on, with all that it starts. */
export class Running {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  /** The addresses that it says it serves at: its base URL first. */
  readonly ready: Promise<string[]>;
  error = '';

  constructor(script: string, cwd: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn('bash', ['--norc', '-euc', script], {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stderr!.on('data', (text: Buffer) => {
      this.error += text.toString();
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', (code) => resolve(code));
    });
    let out = '';
    this.ready = new Promise((resolve, reject) => {
      this.#child.stdout!.on('data', (text: Buffer) => {
        out += text.toString();
        const [, urls] = /^ready (.*)\n/m.exec(out) ?? [];
        if (urls) resolve(urls.split(' '));
      });
      void this.#ended.then((code) =>
        reject(new Error(`it ended with ${code}: ${out}${this.error}`)),
      );
    });
    this.ready.catch(() => {});
  }

  /** Ends it and all that it started. */
  async stop(): Promise<void> {
    if (this.#child.exitCode === null) process.kill(-this.#child.pid!, 'SIGTERM');
    await this.#ended;
  }
}

/** The code in the first mail that a mail server has, once there is one. */
export async function codeFrom(inbox: Inbox): Promise<string> {
  const [mail] = await settles(
    async () => inbox.received,
    ({ length }) => length > 0,
    20_000,
  );
  return codeIn(textOf(mail!.raw));
}

/** Signs in at the account page by emailed code; the address of the account. */
export async function signIn(
  tab: Tab,
  email: string,
  codeFor: () => Promise<string>,
): Promise<string> {
  const query = new URLSearchParams({
    client_id: 'vestibule-account',
    response_type: 'none',
    scope: 'openid',
    redirect_uri: `${tab.origin}/account`,
  });
  const { headers } = await tab.navigate(`/oauth2/auth?${query}`).is(303);
  const interaction = headers.location!;
  await tab.post(`${interaction}/emailchallenge`, { spec: { email } }).is(200);
  const spec = { method: 'EmailCode', code: await codeFor() };
  const { body } = await tab.post(`${interaction}/login`, { spec }).is(200);
  await tab.navigate(body.status.returnTo).is(303);
  return (await tab.get('accounts/~').is(200)).body.status.email.address;
}
