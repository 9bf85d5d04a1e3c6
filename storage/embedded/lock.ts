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

const beat = 1000;

interface Holder {
  readonly id: string;
  readonly pid: number;
  readonly started: string;
  readonly place: string;
}

/**
 * Takes the directory for this process alone until the answered function is called; throws, naming
 * the holder, when another process has it.
 */
export async function acquireLock(directory: string): Promise<() => void> {
  const path = join(directory, 'lock');
  const own: Holder = {
    id: randomUUID(),
    pid: process.pid,
    started: startOf(process.pid),
    place: place(),
  };
  while (!create(path, own)) {
    const holder = read(path);
    if (holder && (await lives(holder, path))) throw refusal(directory, holder);
    if (!clear(path, holder)) throw refusal(directory, read(path));
  }
  const timer = setInterval(() => {
    touch(path);
  }, beat);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (read(path)?.id === own.id) unlinkSync(path);
  };
}

const refusal = (directory: string, holder: Holder | undefined): Error =>
  new Error(
    `${directory} is in use by process ${holder?.pid ?? 'unknown'}: one process at a time may open an embedded store`,
  );

function create(path: string, own: Holder): boolean {
  const draft = `${path}.${own.id}`;
  writeFileSync(draft, JSON.stringify(own));
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    unlinkSync(draft);
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
 * A process in reach is judged by its start time; one of another container or machine by whether it
 * still touches the file.
 */
async function lives(holder: Holder, path: string): Promise<boolean> {
  if (holder.place === place())
    return holder.started !== '' && startOf(holder.pid) === holder.started;
  const touched = modified(path);
  await pause(2.5 * beat);
  return modified(path) !== touched;
}

/**
 * Moves a dead holder's file away; false when it turned out to be a newer one, which is put back.
 */
function clear(path: string, dead: Holder | undefined): boolean {
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch {
    return true;
  }
  const same = read(aside)?.id === dead?.id;
  if (!same) linkSync(aside, path);
  unlinkSync(aside);
  return same;
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
 * When the process began, in the kernel's own ticks; empty when there is none, or only what is left
 * of one.
 */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? '' : (fields[19] ?? '');
  } catch {
    return signalled(pid) ? 'running' : '';
  }
}

function signalled(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function modified(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function touch(path: string): void {
  utimes(path, new Date(), new Date(), () => undefined);
}
