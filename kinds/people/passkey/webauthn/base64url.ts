/**
 * Decodes canonical base64url without padding (RFC 4648 §5); undefined for any other text and for
 * more than `max` bytes.
 */
export function fromBase64url(text: string, max: number): Buffer | undefined {
  if (text.length > Math.ceil((max * 4) / 3) || !/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
