/** Formats milliseconds since the epoch as a timestamp of the API: RFC 3339, UTC, whole seconds. */
export const toTimestamp = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

/** Parses a timestamp to milliseconds since the epoch. */
export const fromTimestamp = (text: string): number => Date.parse(text);
