import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';

/** Permission bits of those who are neither the owner of a file nor of its group. */
const others = 0o007;

/** A file that holds a secret and that anyone on this machine may open. */
export class ExposedFile extends Error {
  /** What is wrong, and what to do, in one line. */
  constructor(file: string) {
    super(`${file} can be read by anyone on this machine; take that away: chmod o= ${file}`);
    this.name = 'ExposedFile';
  }
}

/**
 * Returns the text of a file that holds a secret. Throws ExposedFile where others than its owner
 * and its group have any permission for it (Kubernetes mounts a Secret for a pod's group, by
 * `fsGroup`), and what `open` throws.
 */
export function readSecretFile(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    if ((fstatSync(descriptor).mode & others) !== 0) throw new ExposedFile(file);
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}
