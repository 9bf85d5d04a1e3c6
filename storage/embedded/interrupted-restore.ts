import { existsSync } from 'node:fs';
import { pathOf } from './tables.js';

/** Where a store is restored until it is whole. */
export const draftOf = (directory: string): string => `${directory}.restoring`;

/**
 * Throws where a restore into this folder was begun and is not at its end: an empty store in its
 * place would look like a service without people.
 */
export function refuseHalfRestored(directory: string): void {
  if (existsSync(draftOf(directory)) && !existsSync(pathOf(directory))) {
    throw new Error(
      `a restore into ${directory} has not come to its end: run "vestibule snapshot restore" ` +
        `again, or remove ${draftOf(directory)} to begin with an empty store`,
    );
  }
}
