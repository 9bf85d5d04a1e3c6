import { existsSync } from 'node:fs';
import { hasStore } from './database.js';

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
