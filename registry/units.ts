import { inWords } from './pattern.js';

const milliseconds: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const bytes: Record<string, number> = { '': 1, Ki: 1 << 10, Mi: 1 << 20, Gi: 1 << 30 };

/**
 * How a duration of a limit is written: a whole number with its unit, as Go and Kubernetes write
 * one.
 */
export const durationText = inWords(
  /^(\d{1,9})(ms|s|m|h)$/,
  'must be a duration such as 90s, 15m or 12h',
);
/**
 * How a size is written: bytes, or a whole number with a binary unit (Kubernetes resource
 * quantities).
 */
export const sizeText = /^(\d{1,12})(Ki|Mi|Gi)?$/;
/** How a share is written. */
export const percentText = /^(\d{1,3})%$/;

/** Returns the milliseconds of a duration such as `10m`, NaN where the text is none. */
export function parseDuration(text: string): number {
  const [, digits, unit] = durationText.exec(text) ?? [];
  return digits === undefined ? NaN : Number(digits) * milliseconds[unit!]!;
}

/** Returns the bytes of a size such as `8Ki`, NaN where the text is none. */
export function parseSize(text: string): number {
  const [, digits, unit = ''] = sizeText.exec(text) ?? [];
  return digits === undefined ? NaN : Number(digits) * bytes[unit]!;
}

/** Returns the hundredths of a share such as `20%`, NaN where the text is none. */
export const parsePercent = (text: string): number => Number(percentText.exec(text)?.[1] ?? NaN);
