import { createHash, timingSafeEqual } from 'node:crypto';

const prefix = 'hashed:';
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * What stands in the metadata in place of a secret: the hashes of those that are good, so that a
 * changed one changes the metadata.
 */
export const secretMarker = (hashes: readonly string[]): string => prefix + hashes.join(',');

/**
 * Whether `presented` hashes to one of the marker's secrets (`sha256:<hex>`); every one is
 * compared, in constant time.
 */
export function secretMatches(marker: string | undefined, presented: string): boolean {
  const given = sha256(presented);
  const hashes = marker?.startsWith(prefix)
    ? marker.slice(prefix.length).split(',').filter(Boolean)
    : [];
  let matches = false;
  for (const hash of hashes) {
    const held = Buffer.from(hash.replace(/^sha256:/, ''), 'hex');
    if (held.length === given.length && timingSafeEqual(held, given)) matches = true;
  }
  return matches;
}
