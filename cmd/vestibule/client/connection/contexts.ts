import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError } from '../../terminal/errors.js';
import { makeFolder, writeFileAtomically } from '../../terminal/files.js';
import { program } from '../../terminal/program-name.js';
import { errorCode, errorMessage } from '../../terminal/thrown.js';

/** A service that this command is signed in to. */
export interface Context {
  /** The base URL of the service, without a trailing slash. */
  readonly server: string;
  /** The CA certificates in PEM that replace the machine's list. */
  readonly certificateAuthority?: string;
  readonly refreshToken?: string;
  readonly accessToken?: string;
  /** The expiry of the access token, in milliseconds since the epoch. */
  readonly expires?: number;
}

/** The file of sign-ins: contexts by name, and the current one. */
export interface Contexts {
  readonly current?: string;
  readonly contexts: Readonly<Record<string, Context>>;
}

/**
 * In milliseconds: how long to wait for another command's lock, the age of a lock whose holder must
 * have died (no request takes so long), and the pause between tries.
 */
const lockTimesMs = { wait: 30_000, stale: 300_000, pause: 50 };

/**
 * Returns the path of the file of sign-ins; VESTIBULE_CONTEXTS overrides it
 * (docs/design/operations.md#command).
 */
export const contextsFile = (environment: NodeJS.ProcessEnv): string =>
  environment.VESTIBULE_CONTEXTS ??
  join(environment.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'vestibule', 'config');

/** Reads the file of sign-ins; a missing file is empty. */
export function readContexts(file: string): Contexts {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { contexts: {} };
    throw new CommandError(`${file} cannot be read: ${errorMessage(error)}`);
  }
  const contexts = parseContexts(text);
  if (typeof contexts?.contexts !== 'object' || contexts.contexts === null) {
    throw new CommandError(
      `${file} is not a file of sign-ins; remove it and sign in again, or point VESTIBULE_CONTEXTS to another file`,
    );
  }
  return contexts;
}

function parseContexts(text: string): Contexts | undefined {
  try {
    return JSON.parse(text) as Contexts;
  } catch {
    return undefined;
  }
}

/** Returns the named context, else that of VESTIBULE_CONTEXT, else the current one. */
export function findContext(
  file: string,
  environment: NodeJS.ProcessEnv,
  requestedName: string | undefined,
): { name: string; context: Context } {
  const { current, contexts } = readContexts(file);
  const name = requestedName ?? environment.VESTIBULE_CONTEXT ?? current;
  const context = name === undefined ? undefined : contexts[name];
  if (name === undefined) throw new CommandError(`you are not signed in: ${program} login URL`);
  if (!context) {
    throw new CommandError(`there is no context ${JSON.stringify(name)}: ${program} login URL`);
  }
  return { name, context };
}

/**
 * The running change, if any. It may have used up a refresh token whose successor is not saved yet.
 */
let runningChange: Promise<unknown> = Promise.resolve();

/** Resolves when no change of this process is running, after five seconds at most. */
export const settled = (): Promise<unknown> => Promise.race([runningChange, pause(5_000)]);

/** Changes the file under a lock and replaces it atomically; only its owner may read it. */
export function changeContexts<T>(
  file: string,
  change: (before: Contexts) => Promise<{ after: Contexts; result: T }>,
): Promise<T> {
  const changed = changeLocked(file, change);
  runningChange = changed.catch(() => {});
  return changed;
}

async function changeLocked<T>(
  file: string,
  change: (before: Contexts) => Promise<{ after: Contexts; result: T }>,
): Promise<T> {
  makeFolder(file);
  const release = await acquireLock(`${file}.lock`);
  try {
    const { after, result } = await change(readContexts(file));
    writeFileAtomically(file, `${JSON.stringify(after, null, 2)}\n`);
    return result;
  } finally {
    release();
  }
}

async function acquireLock(path: string): Promise<() => void> {
  const id = randomUUID();
  for (const deadline = Date.now() + lockTimesMs.wait; ; ) {
    try {
      writeFileSync(path, id, { flag: 'wx', mode: 0o600 });
      return () => {
        if (lockHolder(path) === id) rmSync(path, { force: true });
      };
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') {
        throw new CommandError(`${path} cannot be created: ${errorMessage(error)}`);
      }
    }
    if (isStale(path)) {
      moveAside(path, id);
    } else if (Date.now() > deadline) {
      throw new CommandError(`another command holds ${path}; remove it if none is running`);
    }
    await pause(lockTimesMs.pause);
  }
}

const lockHolder = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** Moves a stale lock away, which only one of several commands succeeds in. */
function moveAside(path: string, id: string): void {
  try {
    renameSync(path, `${path}.${id}`);
  } catch {
    return;
  }
  rmSync(`${path}.${id}`, { force: true });
}

function isStale(path: string): boolean {
  try {
    return Date.now() - statSync(path).mtimeMs > lockTimesMs.stale;
  } catch {
    return false;
  }
}
