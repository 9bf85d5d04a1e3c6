import { closeSync, existsSync, fsyncSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Returns whether a directory has a store. */
export const hasStore = (directory: string): boolean => existsSync(join(directory, 'CURRENT'));

/** Returns the directory that a store is restored into before it is complete. */
export const restoreDirectory = (directory: string): string => `${directory}.restoring`;

/**
 * Throws if a restore into this directory was interrupted; opening an empty store instead would
 * look like the loss of all data.
 */
export function assertRestoreComplete(directory: string): void {
  if (existsSync(restoreDirectory(directory)) && !hasStore(directory)) {
    throw new Error(
      `a restore into ${directory} was interrupted: run "vestibule snapshot restore" ` +
        `again, or remove ${restoreDirectory(directory)} to start with an empty store`,
    );
  }
}

/** Another process uses the directory, or this one has it open already. */
export class InUseError extends Error {
  override readonly name = 'InUseError';
  constructor(directory: string, pid: number | undefined) {
    super(
      `${directory} is in use by process ${pid ?? 'unknown'}: one process at a time may open an embedded store`,
    );
  }
}

/** Returns the process that holds LevelDB's lock, if this machine says so (proc_locks(5)). */
export function lockHolder(directory: string): number | undefined {
  try {
    const { ino } = statSync(join(directory, 'LOCK'));
    const locks = readFileSync('/proc/locks', 'latin1').split('\n');
    const holder = locks
      .map((line) => line.split(' ').filter(Boolean))
      .find(([, , , , , place]) => place?.endsWith(`:${ino}`));
    return holder && Number(holder[4]);
  } catch {
    return undefined;
  }
}

/** Makes the names in a directory durable. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
