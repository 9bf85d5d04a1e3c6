/** Formats milliseconds since the epoch as a timestamp of the API: RFC 3339, UTC, whole seconds. */
export const toTimestamp = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

/** Formats the same, rounded up to a whole second. */
export const toLaterTimestamp = (milliseconds: number): string =>
  toTimestamp(Math.ceil(milliseconds / 1000) * 1000);

/** Parses a timestamp to milliseconds since the epoch. */
export const fromTimestamp = (text: string): number => Date.parse(text);
