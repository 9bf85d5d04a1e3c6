import { parseDuration, parsePercent, parseSize } from '../schema/units.js';

/** One configurable limit, in the section `limits` of the settings (docs/design/limits.md). */
export interface LimitSetting {
  readonly value: 'duration' | 'size' | 'count' | 'percent';
  readonly default: string | number;
  /** The inclusive bounds, in the format of the value. */
  readonly min: string | number;
  readonly max: string | number;
  /** The reason for the bounds; ends the message that refuses a value. */
  readonly because: string;
  readonly describe: string;
}

type Unit = LimitSetting['value'];
type Written<V extends Unit> = V extends 'count' ? number : string;

/** Declares a limit of one unit: default, bounds, reason for the bounds, description. */
const limitOf =
  <V extends Unit>(value: V) =>
  (
    fallback: Written<V>,
    [min, max]: readonly [Written<V>, Written<V>],
    because: string,
    describe: string,
  ): LimitSetting => ({ value, default: fallback, min, max, because, describe });
export const duration = limitOf('duration');
export const size = limitOf('size');
export const count = limitOf('count');
export const percent = limitOf('percent');

/** The reason for the bounds of a rate limit. */
export const rateLimitBounds = 'less locks people out, more limits nothing';

/** Returns a limit as a number (milliseconds, bytes, count, percent), or NaN if it is malformed. */
export function parseLimit({ value }: LimitSetting, given: unknown): number {
  if (value === 'count') {
    return Number.isInteger(Number(given)) && /^\d+$/.test(String(given)) ? Number(given) : NaN;
  }
  if (value === 'duration') return parseDuration(String(given));
  return value === 'size' ? parseSize(String(given)) : parsePercent(String(given));
}

const examples = {
  duration: 'a duration such as 30s, 10m or 48h',
  size: 'a size such as 512, 8Ki or 1Mi',
  count: 'a whole number',
  percent: 'a percentage such as 20%',
};

/** Returns what a value must be, with the reason, or undefined if it is valid. */
export function limitFault(setting: LimitSetting, given: unknown): string | undefined {
  const parsed = parseLimit(setting, given);
  if (Number.isNaN(parsed)) return `${examples[setting.value]}; got ${JSON.stringify(given)}`;
  if (parsed >= parseLimit(setting, setting.min) && parsed <= parseLimit(setting, setting.max)) {
    return undefined;
  }
  return `from ${setting.min} to ${setting.max}: ${setting.because}; got ${String(given)}`;
}
