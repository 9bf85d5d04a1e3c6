import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Identity } from '../../../apiserver/listener.js';
import { makeCertificate, type Pair } from './self-signed-certificate.js';
import { putFile } from '../terminal/files.js';
import { ConfigError, type SecureConfig } from '../options/config.js';
import { followFiles } from './watch-files.js';
import type { Log } from '../../../observability/log.js';
import { ExposedFile, readSecretFile } from '../options/secret-file.js';

/** Where a certificate and its key are. */
interface Files {
  readonly certFile: string;
  readonly keyFile: string;
}

/**
 * A certificate made here is replaced by a start that finds less than this left of it, in
 * milliseconds.
 */
const spare = 30 * 86_400_000;

/**
 * The files to serve TLS with: those of the settings, else of a certificate that proves itself,
 * kept in the data folder and made where there is none for these names, or none for much longer.
 */
export async function tlsFiles(
  { certFile, keyFile }: SecureConfig,
  directory: string,
  names: readonly string[],
  log: Log,
): Promise<Files> {
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  const files = { certFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') };
  if (isGood(files, names)) return files;
  const { cert, key } = await makeCertificate(names, Date.now());
  putFile(files.keyFile, key);
  putFile(files.certFile, cert, 0o644);
  log.info(
    { file: files.certFile, names },
    'generated a self-signed certificate; distribute it to clients',
  );
  return files;
}

/** Puts the files to the proof that a start would use; nothing is made. */
export function checkTLSFiles({ certFile, keyFile }: SecureConfig, directory: string): void {
  if (certFile !== undefined && keyFile !== undefined) read({ certFile, keyFile });
  else isGood({ certFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') }, []);
}

/**
 * The names a certificate of our own has: this machine's, that of the base URL, and of the address
 * listened on.
 */
export function ownNames(baseURL: string, bindAddress: string): string[] {
  const host = new URL(baseURL).hostname.replaceAll(/[[\]]/g, '');
  const bound =
    isIP(bindAddress) === 4 || /^[\da-f:]+$/i.test(bindAddress)
      ? new URL(
          `http://${bindAddress.includes(':') ? `[${bindAddress}]` : bindAddress}`,
        ).hostname.replaceAll(/[[\]]/g, '')
      : undefined;
  return [
    ...new Set([
      'localhost',
      '127.0.0.1',
      '::1',
      host,
      ...(bound === undefined || ['0.0.0.0', '::'].includes(bound) ? [] : [bound]),
    ]),
  ];
}

/**
 * Whether a certificate that was made here earlier does still; one of someone else's is never
 * replaced.
 */
function isGood(files: Files, names: readonly string[]): boolean {
  if (!existsSync(files.certFile) || !existsSync(files.keyFile)) return false;
  const certificate = new X509Certificate(read(files).cert);
  if (certificate.issuer !== 'CN=vestibule')
    throw new ConfigError([
      `--tls-cert-file is missing: ${files.certFile} is not a certificate that this service made; give it by --tls-cert-file and --tls-private-key-file, or take it away`,
    ]);
  return (
    Date.parse(certificate.validTo) - Date.now() > spare &&
    names.every(
      (one) => (isIP(one) ? certificate.checkIP(one) : certificate.checkHost(one)) !== undefined,
    )
  );
}

/**
 * Reads both and puts them to the proof; throws a ConfigError that says what is wrong with them.
 */
function read({ certFile, keyFile }: Files): Pair {
  const pair = {
    cert: text(certFile, 'tls-cert-file'),
    key: text(keyFile, 'tls-private-key-file', readSecretFile),
  };
  const certificate = parsed(
    () => new X509Certificate(pair.cert),
    `--tls-cert-file: ${certFile} is not a certificate in PEM`,
  );
  const key = parsed(
    () => createPrivateKey(pair.key),
    `--tls-private-key-file: ${keyFile} is not a private key in PEM without a pass phrase`,
  );
  if (!certificate.checkPrivateKey(key))
    throw new ConfigError([
      `--tls-private-key-file: ${keyFile} is not the key of the certificate in ${certFile}`,
    ]);
  return pair;
}

function text(
  file: string,
  flag: string,
  readFile = (path: string): string => readFileSync(path, 'utf8'),
): string {
  try {
    return readFile(file);
  } catch (error) {
    if (error instanceof ExposedFile) throw new ConfigError([`--${flag}: ${error.message}`]);
    throw new ConfigError([
      `--${flag}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    ]);
  }
}

function parsed<T>(parse: () => T, problem: string): T {
  try {
    return parse();
  } catch {
    throw new ConfigError([problem]);
  }
}

/**
 * What a service proves on its secure port, as the files say now
 * (docs/design/operations.md#watched-files).
 */
export class TLSFiles implements Identity {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  readonly #files: Files;
  readonly #log: Log;
  readonly #stop: () => void;
  readonly #changed: (() => void)[] = [];
  #pair: Pair;

  constructor(files: Files, minVersion: SecureConfig['minVersion'], log: Log) {
    this.#files = files;
    this.#log = log;
    this.minVersion = minVersion;
    this.#pair = read(files);
    this.#stop = followFiles([files.certFile, files.keyFile], () => this.#look(), log);
  }

  get cert(): string {
    return this.#pair.cert;
  }
  get key(): string {
    return this.#pair.key;
  }

  onChange(changed: () => void): void {
    this.#changed.push(changed);
  }

  stop(): void {
    this.#stop();
  }

  /** Takes over what the files say; while they are wrong, the former stays. */
  #look(): void {
    try {
      const pair = read(this.#files);
      if (pair.cert === this.#pair.cert && pair.key === this.#pair.key) return;
      this.#pair = pair;
      for (const changed of this.#changed) changed();
      this.#log.info(
        { file: this.#files.certFile, until: new X509Certificate(pair.cert).validTo },
        'serving with another certificate',
      );
    } catch (error) {
      this.#log.warn(
        { err: error },
        'the certificate has changed and cannot be used; serving with the former',
      );
    }
  }
}
