import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';

/** The permission bits of users that are neither the owner nor in the group of a file. */
const otherUsers = 0o007;

/** A file with a secret that anyone on this machine may open. */
export class ExposedFile extends Error {
  /** The message says in one line what is wrong and what to do. */
  constructor(file: string) {
    super(`${file} can be read by anyone on this machine; restrict it with: chmod o= ${file}`);
    this.name = 'ExposedFile';
  }
}

/**
 * Returns the text of a file with a secret. Throws ExposedFile if users other than its owner and
 * group have any permission (Kubernetes mounts a Secret for a pod's group, by `fsGroup`), and the
 * errors of `open`.
 */
export function readSecretFile(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    if ((fstatSync(descriptor).mode & otherUsers) !== 0) throw new ExposedFile(file);
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}
