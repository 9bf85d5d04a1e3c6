import { createHash, timingSafeEqual } from 'node:crypto';

const prefix = 'hashed:';
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Returns the placeholder for client_secret in the metadata: the hashes of the valid secrets, so
 * that a rotation changes the metadata.
 */
export const secretMarker = (hashes: readonly string[]): string => prefix + hashes.join(',');

/**
 * Returns true if `presented` hashes to a secret of the marker (`sha256:<hex>`). Compares with
 * every hash, in constant time.
 */
export function secretMatches(marker: string | undefined, presented: string): boolean {
  const presentedHash = sha256(presented);
  const hashes = marker?.startsWith(prefix)
    ? marker.slice(prefix.length).split(',').filter(Boolean)
    : [];
  let matches = false;
  for (const hash of hashes) {
    const expected = Buffer.from(hash.replace(/^sha256:/, ''), 'hex');
    if (expected.length === presentedHash.length && timingSafeEqual(expected, presentedHash)) {
      matches = true;
    }
  }
  return matches;
}
