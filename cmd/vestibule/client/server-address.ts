import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CommandError } from '../terminal/errors.js';
import type { FlagValues } from '../terminal/flags.js';

/** The text of the file that --certificate-authority names. */
export function authorityOf({ 'certificate-authority': file }: FlagValues): string | undefined {
  if (file === undefined) return undefined;
  try {
    const text = readFileSync(file, 'utf8');
    new X509Certificate(text).toString(); // throws where it is none; a bundle may hold more than the first
    return text;
  } catch (error) {
    throw new CommandError(
      `--certificate-authority: ${file} is not a certificate in PEM (${(error as Error).message})`,
      2,
    );
  }
}

/** Whether no one on the way can read or change what is said there: https, or this machine. */
export function isTrustworthy(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return (
    protocol === 'https:' ||
    (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname))
  );
}
