import { parseDuration, parsePercent, parseSize } from './units.js';

/**
 * One limit that an operator may set, in the section `limits` of the settings
 * (docs/design/limits.md).
 */
export interface LimitSetting {
  readonly value: 'duration' | 'size' | 'count' | 'percent';
  readonly default: string | number;
  /** The bounds, both included, written as the value is. */
  readonly min: string | number;
  readonly max: string | number;
  /** Why nothing outside the bounds is taken; ends the sentence that refuses it. */
  readonly because: string;
  readonly describe: string;
}

type Unit = LimitSetting['value'];
type Written<V extends Unit> = V extends 'count' ? number : string;

/** Declares a limit of one unit: default, bounds, why these bounds, what it limits. */
const limitOf =
  <V extends Unit>(value: V) =>
  (
    fallback: Written<V>,
    [least, max]: readonly [Written<V>, Written<V>],
    because: string,
    describe: string,
  ): LimitSetting => ({ value, default: fallback, min: least, max, because, describe });
export const duration = limitOf('duration');
export const size = limitOf('size');
export const count = limitOf('count');
export const percent = limitOf('percent');

/** Why a rate limit is neither less nor more. */
export const bothWays = 'less locks people out, more limits nothing';

/** Returns a written value in the unit of code, or NaN where it is not one of its sort. */
export function parseLimit({ value }: LimitSetting, given: unknown): number {
  if (value === 'count')
    return Number.isInteger(Number(given)) && /^\d+$/.test(String(given)) ? Number(given) : NaN;
  if (value === 'duration') return parseDuration(String(given));
  return value === 'size' ? parseSize(String(given)) : parsePercent(String(given));
}

const examples = {
  duration: 'a duration such as 30s, 10m or 48h',
  size: 'a size such as 512, 8Ki or 1Mi',
  count: 'a whole number',
  percent: 'a share such as 20%',
};

/** Returns what a value must be and is not, with the reason, or undefined where it may stand. */
export function limitFault(setting: LimitSetting, given: unknown): string | undefined {
  const parsed = parseLimit(setting, given);
  if (Number.isNaN(parsed)) return `${examples[setting.value]}; got ${JSON.stringify(given)}`;
  if (parsed >= parseLimit(setting, setting.min) && parsed <= parseLimit(setting, setting.max))
    return undefined;
  return `from ${setting.min} to ${setting.max}: ${setting.because}; got ${String(given)}`;
}
