import type { Given } from './sources.js';
import { duration, type ServeFlag, type Setting } from './flags.js';

/** The parsed value of a setting. */
export type SettingValue = string | number | boolean | string[];

/** The parsed value of every setting that has one, by flag. */
export type OptionValues = Partial<Record<ServeFlag, SettingValue>>;

const units: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600 };
const either = (all: readonly string[]): string =>
  `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`;

/** Parses the value of a setting, and adds a problem if its type or bounds are wrong. */
export function parseSetting(
  { flag, value, oneOf, wholeTo, positive }: Setting,
  given: Given['value'],
  problems: string[],
): SettingValue {
  const wrong = (what: string): void => {
    problems.push(`--${flag} must be ${what}`);
  };
  if (value === 'boolean') {
    if (!['true', 'false'].includes(String(given))) wrong('true or false');
    return String(given) === 'true';
  }
  if (value === 'list')
    return typeof given === 'object'
      ? given
      : String(given)
          .split(',')
          .map((one) => one.trim())
          .filter(Boolean);
  if (value === 'text') {
    if (oneOf && !oneOf.includes(String(given))) wrong(either(oneOf));
    return String(given);
  }
  const number = typeof given === 'number' ? given : numberOf(String(given), value === 'seconds');
  if (!Number.isFinite(number) || number < 0) {
    if (value === 'seconds') wrong('a duration such as 30s or 5m');
    else wrong(number < 0 ? '0 or more' : 'a number');
    return 0;
  }
  if (wholeTo !== undefined && (!Number.isInteger(number) || number > wholeTo))
    wrong(`a whole number from 0 to ${wholeTo}; got ${number}`);
  if (positive && number === 0) wrong('more than 0');
  return number;
}

function numberOf(text: string, isDuration: boolean): number {
  const [, digits, unit] = duration.exec(text) ?? [];
  return digits === undefined || (unit !== undefined && !isDuration)
    ? NaN
    : Number(digits) * units[unit ?? 's']!;
}
