import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { scaled } from '../patience.js';

/** One kubectl of this machine. */
export interface Found {
  readonly version: string;
  readonly path: string;
}

/** Prints the folder of the kubectl that hack/prepare built because none is on the PATH. */
const build = join(import.meta.dirname, '../../../hack/tools/kubectl/build');

/**
 * Every kubectl on the PATH, beside the one that it stands for, by ascending version; each minor
 * version once, the highest of it. If there is none, the one that hack/prepare built.
 */
export function findKubectls(): Found[] {
  const onPath = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => {
    const own = join(folder, 'kubectl');
    return existsSync(own) ? [folder, dirname(realpathSync(own))] : [folder];
  });
  const found = kubectlsIn(onPath);
  return found.length > 0 ? found : kubectlsIn([execFileSync(build, { encoding: 'utf8' }).trim()]);
}

function kubectlsIn(folders: readonly string[]): Found[] {
  const found = new Map<string, Found>();
  for (const path of folders.flatMap((folder) =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => /^kubectl(\.1\.\d+)?$/.test(name))
          .map((name) => join(folder, name))
      : [],
  )) {
    const version = versionOf(path);
    const minor = version?.split('.')[1];
    if (version && minor && higher(version, found.get(minor)?.version)) {
      found.set(minor, { version, path });
    }
  }
  return [...found.values()].sort((a, b) => (higher(a.version, b.version) ? 1 : -1));
}

const higher = (one: string, other = '0'): boolean =>
  one.localeCompare(other, 'en', { numeric: true }) > 0;

function versionOf(path: string): string | undefined {
  try {
    const { clientVersion } = JSON.parse(
      execFileSync(path, ['version', '--client', '-o', 'json'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      }).toString(),
    ) as { clientVersion: { gitVersion: string } };
    return /^v(\d+\.\d+\.\d+)/.exec(clientVersion.gitVersion)?.[1];
  } catch {
    return undefined;
  }
}

/** What came of one command. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** One kubectl with a home, a cache and a configuration of its own. */
export class Kubectl {
  readonly #path: string;
  readonly #home = mkdtempSync(join(tmpdir(), 'vestibule-kubectl-'));

  constructor({ path }: Found, { url, ca }: { url: string; ca?: Buffer }, token?: string) {
    this.#path = path;
    this.file(
      'config',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'test',
        clusters: [
          {
            name: 'test',
            cluster: {
              server: url,
              ...(ca !== undefined && { 'certificate-authority-data': ca.toString('base64') }),
            },
          },
        ],
        users: [{ name: 'test', user: token === undefined ? {} : { token } }],
        contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      }),
    );
  }

  /** Writes a file beside its configuration; where it is. */
  file(name: string, text: string): string {
    const path = join(this.#home, name);
    writeFileSync(path, text);
    return path;
  }

  /**
   * Runs one command to its end; `input` is its standard input, `more` what else is in its
   * environment.
   */
  run(args: readonly string[], input = '', more: NodeJS.ProcessEnv = {}): Promise<Ran> {
    return new Promise((resolve) => {
      const child = execFile(
        this.#path,
        args,
        { env: { ...this.#environment, ...more }, timeout: scaled(60_000), maxBuffer: 16 << 20 },
        (failure, out, error) =>
          resolve({ code: failure ? Number(failure.code ?? 1) : 0, out, error }),
      );
      child.stdin!.on('error', () => {}).end(input);
    });
  }

  /** Its standard output, which must come without a word on standard error. */
  async says(...args: string[]): Promise<string> {
    const { code, out, error } = await this.run(args);
    if (code !== 0 || error !== '') {
      throw new Error(`kubectl ${args.join(' ')}: ${code} ${error}${out}`);
    }
    return out;
  }

  /** Its standard error, where it must fail. */
  async fails(...args: string[]): Promise<string> {
    const { code, out, error } = await this.run(args);
    if (code === 0 || out !== '') {
      throw new Error(`kubectl ${args.join(' ')} was to fail: ${code} ${out}${error}`);
    }
    return error;
  }

  /** A command that goes on until it is stopped. */
  follow(...args: string[]): Follower {
    return new Follower(
      spawn(this.#path, args, { env: this.#environment, stdio: ['ignore', 'pipe', 'pipe'] }),
    );
  }

  remove(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }

  get #environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      HOME: this.#home,
      KUBECONFIG: join(this.#home, 'config'),
      KUBECACHEDIR: join(this.#home, 'cache'),
    };
  }
}

/** A command that is running, and what it said. */
export class Follower {
  text = '';
  readonly #child: ChildProcess;
  #wake: () => void = () => {};

  constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk: Buffer) => {
        this.text += chunk.toString();
        this.#wake();
      });
    }
  }

  /** Resolves once what was said satisfies `holds`. */
  async until(holds: (text: string) => boolean, milliseconds = 20_000): Promise<void> {
    const end = Date.now() + scaled(milliseconds);
    while (!holds(this.text)) {
      if (Date.now() > end) throw new Error(`timed out: ${this.text}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 200);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Ends it. */
  async stop(): Promise<void> {
    const gone = new Promise((resolve) => {
      this.#child.once('close', resolve);
    });
    this.#child.kill('SIGKILL');
    await gone;
  }
}
