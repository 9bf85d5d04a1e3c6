import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CommandError } from '../../terminal/errors.js';
import type { FlagValues } from '../../terminal/flags.js';
import { errorMessage } from '../../terminal/thrown.js';

/** Reads the file of `--certificate-authority`. */
export function readAuthority({ 'certificate-authority': file }: FlagValues): string | undefined {
  if (file === undefined) return undefined;
  try {
    const text = readFileSync(file, 'utf8');
    new X509Certificate(text).toString(); // Throws if the first is no certificate; a bundle may contain more.
    return text;
  } catch (error) {
    throw new CommandError(
      `--certificate-authority: ${file} is not a certificate in PEM (${errorMessage(error)})`,
      2,
    );
  }
}

/**
 * Reports whether a connection to the URL cannot be read or changed on the way: https, or this
 * machine.
 */
export function isSecure(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return (
    protocol === 'https:' ||
    (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname))
  );
}
