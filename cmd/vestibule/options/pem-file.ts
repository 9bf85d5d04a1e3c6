import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { errorCode } from '../terminal/thrown.js';
import { ConfigError } from './config.js';
import { ExposedFile, readSecretFile } from './secret-file.js';

/** A PEM file that a setting names: its text, and what the text holds. */
interface PemFile<T> {
  readonly text: string;
  readonly value: T;
}

/** Reads a certificate. Throws a ConfigError that names the flag. */
export const readCertificate = (flag: string, file: string): PemFile<X509Certificate> =>
  readPemFile(flag, file, {
    read: (path) => readFileSync(path, 'utf8'),
    parse: (pem) => new X509Certificate(pem),
    what: 'a certificate in PEM',
  });

/** Reads a private key that others may not read. Throws a ConfigError that names the flag. */
export const readPrivateKey = (
  flag: string,
  file: string,
  what = 'a private key in PEM',
): PemFile<KeyObject> =>
  readPemFile(flag, file, { read: readSecretFile, parse: (pem) => createPrivateKey(pem), what });

function readPemFile<T>(
  flag: string,
  file: string,
  {
    read,
    parse,
    what,
  }: { read: (path: string) => string; parse: (pem: string) => T; what: string },
): PemFile<T> {
  let text: string;
  try {
    text = read(file);
  } catch (error) {
    const problem =
      error instanceof ExposedFile ? error.message : `${file} cannot be read (${errorCode(error)})`;
    throw new ConfigError([`--${flag}: ${problem}`]);
  }
  try {
    return { text, value: parse(text) };
  } catch {
    throw new ConfigError([`--${flag}: ${file} is not ${what}`]);
  }
}
