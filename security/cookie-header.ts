/**
 * Returns every value of a name in a Cookie header, byte for byte: not decoded, and with any quotes
 * (docs/design/security.md#cookies).
 */
export function cookieValues(header: string | undefined, name: string): string[] {
  const values: string[] = [];
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) {
      values.push(pair.slice(equals + 1).trim());
    }
  }
  return values;
}
