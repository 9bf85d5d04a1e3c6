import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Follower } from './cluster/kubectl.js';
import { tokenOf } from './people/device.js';
import type { Tab } from './people/tab.js';
import { type TestService, temporary } from './service.js';

/** The command, as it is installed. */
export const program = join(import.meta.dirname, '../../bin/vestibule');

/** What came of the command. */
export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/**
 * Runs the command as a process of its own; `onError` receives all of standard error
 * so far at each addition.
 */
export function vestibule(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  onError: (text: string) => void = () => {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], {
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, error] = ['', ''];
    child.stdout.on('data', (text: Buffer) => {
      out += text.toString();
    });
    child.stderr.on('data', (text: Buffer) => {
      error += text.toString();
      onError(error);
    });
    child.on('error', reject).on('close', (code) => resolve({ code, out, error }));
  });
}

const following = new Set<Following>();

/** Ends what a failed test left going. */
export async function stopFollowing(): Promise<void> {
  for (const one of following) await one.stop();
}

/** The command as something that goes on: what it says, and how it ends when it is interrupted. */
export class Following extends Follower {
  readonly #child: ChildProcess;

  constructor(args: readonly string[], environment: NodeJS.ProcessEnv) {
    const child = spawn(process.execPath, [program, ...args], {
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    super(child);
    this.#child = child;
    following.add(this);
    child.once('close', () => following.delete(this));
  }

  /** Ctrl-C; the exit code, or the signal where it did not end by itself. */
  async interrupt(): Promise<number | string | null> {
    const gone = new Promise<number | string | null>((resolve) => {
      this.#child.once('close', (code, signal) => resolve(code ?? signal));
    });
    this.#child.kill('SIGINT');
    return gone;
  }
}

/**
 * Signs the command in as anyone who is in `tab`, in a file of contexts of its own; its environment.
 */
export const signedIn = async (service: TestService, tab: Tab): Promise<Kept> =>
  keep(service.baseURL, await tokenOf(service, tab));

type Kept = { readonly VESTIBULE_CONTEXTS: string };

/** A file of contexts that holds a token for a service. */
export function keep(server: string, accessToken: string): Kept {
  const file = join(temporary(), 'contexts');
  writeFileSync(
    file,
    JSON.stringify({
      current: 'test',
      contexts: { test: { server, accessToken, expires: Date.now() + 3_000_000 } },
    }),
    { mode: 0o600 },
  );
  return { VESTIBULE_CONTEXTS: file };
}
