/**
 * The bytes that canonical base64url without padding stands for (RFC 4648 5), at most `most` of
 * them; undefined for any other text.
 */
export function fromBase64url(text: string, max: number): Buffer | undefined {
  if (text.length > Math.ceil((max * 4) / 3) || !/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
