import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { openEtcd } from '../../storage/etcd/etcd.js';
import type { Storage } from '../../storage/storage.js';
import { freePorts } from '../storage/etcd-server.js';
import { testKeys } from '../support/keys.js';
import { Tab } from '../support/people/tab.js';
import { logsHoldNone, storeHoldsNone } from '../support/secrets.js';

const root = join(import.meta.dirname, '../..');

const client = `apiVersion: id.vestibule.org/v1beta1
kind: Client
metadata: { name: app }
spec:
  displayName: The app
  type: Public
  redirectURIs: [https://app.example.test/callback]
  grantTypes: [authorization_code, refresh_token]
  scopes: [{ name: openid, required: true }, { name: email, required: true }, { name: profile }, { name: offline_access }]
`;

/** What may differ from one on an embedded store of its own. */
interface Options {
  /** Where browsers believe it to be. */
  readonly baseURL?: string;
  readonly flags?: readonly string[];
  /** Further variables in its environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The command that it runs: that of the checkout by default. */
  readonly program?: string;
}

/** The real command as a child process, killed and started again on one store and one port. */
export class Served {
  readonly baseURL: string;
  /** Where it listens. */
  readonly url: string;
  readonly directory: string;
  kills = 0;
  /** What it said on standard error, over all its lives. */
  complaints = '';
  readonly #flags: readonly string[];
  readonly #environment: Readonly<Record<string, string>>;
  #program: string;
  #child: ChildProcess | undefined;
  #isDying = false;
  #up: Promise<void> = Promise.resolve();

  private constructor(
    directory: string,
    port: number,
    {
      baseURL = `http://localhost:${port}`,
      flags = ['--data-dir', directory],
      environment = {},
      program = join(root, 'bin/vestibule'),
    }: Options,
  ) {
    this.#environment = environment;
    this.#program = program;
    this.directory = directory;
    this.baseURL = baseURL;
    this.url = `http://127.0.0.1:${port}`;
    const manifests = join(directory, 'manifests');
    mkdirSync(manifests, { recursive: true });
    writeFileSync(join(manifests, 'app.yaml'), client);
    this.#flags = [
      'serve',
      '--mock-mail',
      '--port',
      String(port),
      '--manifests',
      manifests,
      '--limit-factor',
      '10',
      '--limits-wrong-codes-per-network',
      '1000',
      // A history may last longer than an operator's sign-in is recent.
      '--limits-recent-sign-in',
      '1h',
      '--trusted-proxies',
      '127.0.0.1',
      '--log-level',
      'warn',
      ...flags,
    ];
    this.#up = this.#launch();
  }

  /**
   * Starts it for the first time, with further variables in its environment and flags, a manifest,
   * and a command.
   */
  static async start(
    directory: string,
    environment: Readonly<Record<string, string>> = {},
    {
      flags = [],
      manifest = '',
      program,
    }: { flags?: readonly string[]; manifest?: string; program?: string | undefined } = {},
  ): Promise<Served> {
    if (manifest) Served.#declare(directory, manifest);
    writeFileSync(join(directory, 'keys.json'), JSON.stringify(testKeys()), { mode: 0o600 });
    const served = new Served(directory, (await freePorts(1))[0]!, {
      environment,
      flags: ['--data-dir', directory, ...flags],
      ...(program && { program }),
    });
    await served.up();
    return served;
  }

  /**
   * Starts several at once on one etcd, as behind one address, each perhaps by a way of its own:
   * with the same keys, base URL and manifests, `manifest` among them, each with flags and
   * variables of its own besides.
   */
  static async replicas(
    count: number,
    directory: string,
    etcd: string | ((replica: number) => string),
    manifest: string,
    more: (replica: number) => readonly string[] = () => [],
    environment: (replica: number) => Readonly<Record<string, string>> = () => ({}),
    program?: string,
  ): Promise<Served[]> {
    const ports = await freePorts(count);
    Served.#declare(directory, manifest);
    writeFileSync(join(directory, 'keys.json'), JSON.stringify(testKeys()), { mode: 0o600 });
    const baseURL = `http://localhost:${ports[0]}`;
    const flags = [
      '--keys-file',
      join(directory, 'keys.json'),
      '--allow-mock-mail',
      '--base-url',
      baseURL,
    ];
    const all = ports.map(
      (port, i) =>
        new Served(directory, port, {
          baseURL,
          flags: [
            '--etcd-servers',
            typeof etcd === 'string' ? etcd : etcd(i),
            ...flags,
            ...more(i),
          ],
          environment: environment(i),
          ...(program && { program }),
        }),
    );
    const starts = await Promise.allSettled(all.map((one) => one.up()));
    const failed = starts.find(({ status }) => status === 'rejected') as
      | PromiseRejectedResult
      | undefined;
    if (failed) {
      for (const one of all) await one.end();
      throw failed.reason;
    }
    return all;
  }

  /** The process now running. */
  get pid(): number {
    return this.#child!.pid!;
  }

  static #declare(directory: string, manifest: string): void {
    mkdirSync(join(directory, 'manifests'), { recursive: true });
    writeFileSync(join(directory, 'manifests', 'further.yaml'), manifest);
  }

  /** A new browser. */
  tab(): Tab {
    return new Tab(this.url, this.baseURL);
  }

  /** Resolves once it listens again; rejects when a start failed. */
  up(): Promise<void> {
    return this.#up;
  }

  /**
   * SIGKILL, and a start right behind it; as a supervisor does, again while etcd does not answer.
   * Nothing while a killed process has not ended: two starts would follow.
   */
  kill(): void {
    if (this.#isDying) return;
    this.#isDying = true;
    this.kills += 1;
    this.#up = this.#end('SIGKILL').then(() => {
      this.#isDying = false;
      return this.#supervised();
    });
    this.#up.catch(() => {});
  }

  /** SIGSTOP: it holds still, connections and all. */
  pause(): void {
    this.#child!.kill('SIGSTOP');
  }

  /** SIGCONT. */
  resume(): void {
    this.#child!.kill('SIGCONT');
  }

  /** Another start, once it has ended, perhaps of another command. */
  again(program = this.#program): Promise<void> {
    this.#program = program;
    return (this.#up = this.#launch());
  }

  /** SIGKILL; its folder stays, and neither log nor store holds a secret. */
  async end(): Promise<void> {
    await this.#end('SIGKILL');
    logsHoldNone(this.complaints);
    const storage = await this.#store();
    if (storage) await storeHoldsNone(storage).finally(() => storage.close());
  }

  /** What it served from, while no one does; nothing where that was removed or does not answer. */
  async #store(): Promise<Storage | undefined> {
    const at = this.#flags.indexOf('--etcd-servers');
    if (at >= 0) {
      return openEtcd({ servers: this.#flags[at + 1]!.split(','), prefix: '/vestibule/' }).catch(
        () => undefined,
      );
    }
    const directory = join(this.directory, 'store');
    return existsSync(directory) ? openEmbedded({ directory }) : undefined;
  }

  /** SIGTERM, as anyone who rolls replicas over sends it; the exit code. */
  async stop(): Promise<number | null> {
    const code = await this.#end('SIGTERM');
    logsHoldNone(this.complaints);
    return code;
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child!;
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const gone = new Promise<number | null>((resolve) => {
      child.once('exit', resolve);
    });
    child.kill(signal);
    return gone;
  }

  async #supervised(starts = 5): Promise<void> {
    try {
      await this.#launch();
    } catch (error) {
      if (starts === 1 || !this.complaints.endsWith('vestibule: etcd did not answer\n')) {
        throw error;
      }
      await this.#supervised(starts - 1);
    }
  }

  #launch(): Promise<void> {
    const child = spawn(process.execPath, [this.#program, ...this.#flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH!, ...this.#environment },
    });
    this.#child = child;
    child.stderr!.on('data', (text: Buffer) => {
      this.complaints += text.toString();
    });
    return new Promise((resolve, reject) => {
      child.stdout!.once('data', () => {
        resolve();
      });
      child.once('exit', (code, signal) => {
        reject(
          new Error(
            `the service ended with ${code ?? signal} before it was ready: ${this.complaints.slice(-2000)}`,
          ),
        );
      });
    });
  }
}
