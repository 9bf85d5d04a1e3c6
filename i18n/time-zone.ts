/** Returns a time zone of the tz database if `Intl` knows it, or undefined. */
export function knownTimeZone(name: string | undefined): string | undefined {
  if (name === undefined || !/^[A-Za-z][\w+/-]{0,63}$/.test(name)) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone === '' ? undefined : name;
  } catch {
    return undefined;
  }
}
