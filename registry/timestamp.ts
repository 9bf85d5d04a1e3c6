/**
 * Milliseconds since the epoch as every timestamp of this API is written: RFC 3339, UTC, whole
 * seconds.
 */
export const toTimestamp = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

/** The milliseconds since the epoch that a timestamp stands for. */
export const fromTimestamp = (text: string): number => Date.parse(text);
