import { type Check, limits, TooLargeError, type Write } from './storage.js';

const printableAscii = /^[!-~]+$/;

/** Returns the key that a write changes. */
export const keyOf = (write: Write): string => ('put' in write ? write.put : write.delete);

/** Throws TooLargeError for a key that is empty, too long, or not printable ASCII without space. */
export function validateKey(key: string): void {
  if (key.length > limits.keyBytes) {
    throw new TooLargeError(`a key of ${key.length} bytes is over ${limits.keyBytes}`);
  }
  if (!printableAscii.test(key)) {
    throw new TooLargeError(`key ${JSON.stringify(key)} is not printable ASCII without space`);
  }
}

/**
 * Throws TooLargeError for a commit over the limits, and TypeError if it writes a key twice.
 * Returns its size in bytes.
 */
export function checkLimits(checks: readonly Check[], writes: readonly Write[]): number {
  if (checks.length > limits.checks) {
    throw new TooLargeError(`${checks.length} checks are over ${limits.checks}`);
  }
  if (writes.length > limits.writes) {
    throw new TooLargeError(`${writes.length} writes are over ${limits.writes}`);
  }
  for (const { key } of checks) validateKey(key);
  const bytes = writes.reduce((sum, write) => sum + sizeOf(write), 0);
  if (bytes > limits.commitBytes) {
    throw new TooLargeError(`a commit of ${bytes} bytes is over ${limits.commitBytes}`);
  }
  if (writes.length > 1) assertDistinctKeys(writes);
  return bytes;
}

function sizeOf(write: Write): number {
  const key = keyOf(write);
  validateKey(key);
  return key.length + ('put' in write ? write.value.length : 0);
}

function assertDistinctKeys(writes: readonly Write[]): void {
  const seen = new Set<string>();
  for (const write of writes) {
    const key = keyOf(write);
    if (seen.has(key)) throw new TypeError(`a commit writes ${key} twice`);
    seen.add(key);
  }
}
