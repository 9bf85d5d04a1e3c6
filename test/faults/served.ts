import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../storage/etcd-server.js';

const root = join(import.meta.dirname, '../..');

const client = `apiVersion: id.vestibule.org/v1alpha1
kind: Client
metadata: { name: app }
spec:
  displayName: The app
  type: Public
  redirectURIs: [http://localhost:7777/callback]
  grantTypes: [authorization_code, refresh_token]
  scopes: [{ name: openid, required: true }, { name: email, required: true }, { name: profile }, { name: offline_access }]
`;

/** The real command as a child process, killed and started again on one folder and one port. */
export class Served {
  readonly baseURL: string;
  readonly directory: string;
  kills = 0;
  /** What it said on standard error, over all its lives. */
  complaints = '';
  readonly #flags: readonly string[];
  #child: ChildProcess | undefined;
  #up: Promise<void> = Promise.resolve();
  readonly #environment: Readonly<Record<string, string>>;

  private constructor(directory: string, port: number, environment: Readonly<Record<string, string>>) {
    this.#environment = environment;
    this.directory = directory;
    this.baseURL = `http://localhost:${port}`;
    const manifests = join(directory, 'manifests');
    mkdirSync(manifests);
    writeFileSync(join(manifests, 'app.yaml'), client);
    this.#flags = ['serve', '--data-dir', directory, '--mock-mail', '--port', String(port), '--manifests', manifests, '--limit-factor', '10', '--trusted-proxies', '127.0.0.1', '--log-level', 'warn'];
  }

  /** Starts it for the first time, with further variables in its environment. */
  static async start(directory: string, environment: Readonly<Record<string, string>> = {}): Promise<Served> {
    const served = new Served(directory, (await freePorts(1))[0]!, environment);
    served.#up = served.#launch();
    await served.up();
    return served;
  }

  /** Where it listens. */
  get url(): string { return this.baseURL.replace('localhost', '127.0.0.1') }

  /** Resolves once it listens again; rejects when a start failed. */
  up(): Promise<void> { return this.#up }

  /** SIGKILL, and a start right behind it. */
  kill(): void {
    this.kills += 1;
    this.#up = this.end().then(() => this.#launch());
    this.#up.catch(() => {});
  }

  /** SIGKILL; its folder stays. */
  async end(): Promise<void> {
    const child = this.#child!;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => { child.once('exit', resolve) });
    child.kill('SIGKILL');
    await gone;
  }

  #launch(): Promise<void> {
    const child = spawn(process.execPath, [join(root, 'bin/vestibule'), ...this.#flags], { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH!, ...this.#environment } });
    this.#child = child;
    child.stderr!.on('data', (text: Buffer) => { this.complaints += text.toString() });
    return new Promise((resolve, reject) => {
      child.stdout!.once('data', () => { resolve() });
      child.once('exit', (code, signal) => { reject(new Error(`the service ended with ${code ?? signal} before it was ready: ${this.complaints.slice(-2000)}`)) });
    });
  }
}
