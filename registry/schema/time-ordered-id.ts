import { randomBytes } from 'node:crypto';

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Returns a UUID that begins with a time and ends with 74 random bits (version 7, RFC 9562 §5.7); `now`
 * is in milliseconds since the epoch.
 */
export function timeOrderedId(now = Date.now()): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const text = bytes.toString('hex');
  const cuts = [0, 8, 12, 16, 20, 32];
  return cuts
    .slice(1)
    .map((end, i) => text.slice(cuts[i], end))
    .join('-');
}

/** Returns the time in such a UUID, in milliseconds since the epoch; undefined for another text. */
export function timeOfId(id: string): number | undefined {
  if (!pattern.test(id)) return undefined;
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
