import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure } from './failure.js';

/** One service this command is signed in to. */
export interface Context {
  /** Base URL of the service, without a trailing slash. */
  readonly server: string;
  readonly refreshToken?: string;
  readonly accessToken?: string;
  /** When the access token ends, in milliseconds since the epoch. */
  readonly expires?: number;
}

/** What is kept between commands: contexts by name, and the one in use. */
export interface Contexts { readonly current?: string; readonly contexts: Readonly<Record<string, Context>> }

/** How long another command may hold the file, and how often it is looked at, in milliseconds. */
const lock = { patience: 15_000, stale: 30_000, pause: 50 };

/** The file of contexts (`operations.md` 9); VESTIBULE_CONFIG names another. */
export const contextsFile = (environment: NodeJS.ProcessEnv): string =>
  environment.VESTIBULE_CONFIG ?? join(environment.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'vestibule', 'config');

/** Reads the file; none is an empty one. */
export function readContexts(file: string): Contexts {
  let text: string;
  try { text = readFileSync(file, 'utf8') } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { contexts: {} };
    throw new Failure(`${file} cannot be read: ${(error as Error).message}`);
  }
  try { return JSON.parse(text) as Contexts } catch { throw new Failure(`${file} is not what this command wrote; sign in again after removing it`) }
}

/** Changes the file while no other command does: it is replaced whole, and only its owner may read it. */
export async function changeContexts<T>(file: string, change: (before: Contexts) => Promise<{ after: Contexts; result: T }>): Promise<T> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const release = await take(`${file}.lock`);
  try {
    const { after, result } = await change(readContexts(file));
    writeFileSync(`${file}.new`, `${JSON.stringify(after, null, 2)}\n`, { mode: 0o600 });
    chmodSync(`${file}.new`, 0o600);
    renameSync(`${file}.new`, file);
    return result;
  } finally {
    release();
  }
}

async function take(path: string): Promise<() => void> {
  for (const end = Date.now() + lock.patience; ;) {
    try {
      closeSync(openSync(path, 'wx', 0o600));
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw new Failure(`${path} cannot be made: ${(error as Error).message}`);
    }
    if (isStale(path)) rmSync(path, { force: true });
    else if (Date.now() > end) throw new Failure(`another command holds ${path}; remove it if none is running`);
    await new Promise((resolve) => { setTimeout(resolve, lock.pause) });
  }
}

function isStale(path: string): boolean {
  try { return Date.now() - statSync(path).mtimeMs > lock.stale } catch { return false }
}
