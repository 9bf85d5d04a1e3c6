import { describePattern } from './pattern.js';

/** Units of time, in milliseconds. */
export const [secondMs, minuteMs, hourMs, dayMs] = [1_000, 60_000, 3_600_000, 86_400_000];

/** A day in seconds. */
export const daySeconds = 86_400;

const milliseconds: Record<string, number> = { ms: 1, s: secondMs, m: minuteMs, h: hourMs };
const bytes: Record<string, number> = { '': 1, Ki: 1 << 10, Mi: 1 << 20, Gi: 1 << 30 };

/** The format of a duration: a whole number with a unit, as in Go and Kubernetes. */
export const durationText = describePattern(
  /^(\d{1,9})(ms|s|m|h)$/,
  'must be a duration such as 90s, 15m or 12h',
);
/**
 * The format of a size: bytes, or a whole number with a binary unit (Kubernetes resource
 * quantities).
 */
export const sizeText = /^(\d{1,12})(Ki|Mi|Gi)?$/;
/** The format of a percentage. */
export const percentText = /^(\d{1,3})%$/;

/** Returns the milliseconds of a duration such as `10m`, or NaN. */
export function parseDuration(text: string): number {
  const [, digits, unit] = durationText.exec(text) ?? [];
  return digits === undefined ? NaN : Number(digits) * milliseconds[unit!]!;
}

/** Returns the bytes of a size such as `8Ki`, or NaN. */
export function parseSize(text: string): number {
  const [, digits, unit = ''] = sizeText.exec(text) ?? [];
  return digits === undefined ? NaN : Number(digits) * bytes[unit]!;
}

/** Returns the number of a percentage such as `20%`, or NaN. */
export const parsePercent = (text: string): number => Number(percentText.exec(text)?.[1] ?? NaN);
