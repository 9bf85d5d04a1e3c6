import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Makes the names in a directory durable. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
