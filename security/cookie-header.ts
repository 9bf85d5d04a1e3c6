/**
 * Every value under one name in a Cookie header, byte for byte: undecoded, and with quotes where
 * quotes were sent (docs/design/security.md#cookies).
 */
export function cookieValues(header: string | undefined, name: string): string[] {
  const values: string[] = [];
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name)
      values.push(pair.slice(equals + 1).trim());
  }
  return values;
}
