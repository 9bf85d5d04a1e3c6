import { randomUUID } from 'node:crypto';
import {
  linkSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  unlinkSync,
  utimes,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const heartbeatMs = 1000;

interface Holder {
  readonly id: string;
  readonly pid: number;
  readonly started: string;
  readonly place: string;
}

/**
 * Locks the directory for this process until the returned function is called. Throws, with the
 * holder's process id, if another process has the lock.
 */
export async function acquireLock(directory: string): Promise<() => void> {
  const path = join(directory, 'lock');
  const self: Holder = {
    id: randomUUID(),
    pid: process.pid,
    started: processStartTime(process.pid),
    place: place(),
  };
  while (!create(path, self)) {
    const holder = read(path);
    if (holder && (await isAlive(holder, path))) throw inUseError(directory, holder);
    if (!removeStale(path, holder)) throw inUseError(directory, read(path));
  }
  const timer = setInterval(() => {
    touch(path);
  }, heartbeatMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (read(path)?.id === self.id) unlinkSync(path);
  };
}

const inUseError = (directory: string, holder: Holder | undefined): Error =>
  new Error(
    `${directory} is in use by process ${holder?.pid ?? 'unknown'}: one process at a time may open an embedded store`,
  );

function create(path: string, self: Holder): boolean {
  const temporaryPath = `${path}.${self.id}`;
  writeFileSync(temporaryPath, JSON.stringify(self));
  try {
    linkSync(temporaryPath, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    unlinkSync(temporaryPath);
  }
}

function read(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

/**
 * Identifies a visible process by its start time; one of another container or machine is alive if
 * it still touches the file.
 */
async function isAlive(holder: Holder, path: string): Promise<boolean> {
  if (holder.place === place())
    return holder.started !== '' && processStartTime(holder.pid) === holder.started;
  const lastModified = modifiedAt(path);
  await pause(2.5 * heartbeatMs);
  return modifiedAt(path) !== lastModified;
}

/**
 * Removes the file of a dead holder. Returns false if a newer holder replaced it, whose file is put
 * back.
 */
function removeStale(path: string, deadHolder: Holder | undefined): boolean {
  const movedPath = `${path}.${randomUUID()}`;
  try {
    renameSync(path, movedPath);
  } catch {
    return true;
  }
  const isSame = read(movedPath)?.id === deadHolder?.id;
  if (!isSame) linkSync(movedPath, path);
  unlinkSync(movedPath);
  return isSame;
}

function place(): string {
  try {
    return (
      readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() +
      readlinkSync('/proc/self/ns/pid')
    );
  } catch {
    return 'this machine';
  }
}

/**
 * Returns the start time of a process in kernel ticks, or an empty string if it does not exist or
 * is a zombie.
 */
function processStartTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? '' : (fields[19] ?? '');
  } catch {
    return processExists(pid) ? 'running' : '';
  }
}

function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function modifiedAt(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function touch(path: string): void {
  utimes(path, new Date(), new Date(), () => undefined);
}
