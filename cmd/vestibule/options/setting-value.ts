import { durationPattern, type Setting } from './flags.js';
import type { GivenValue } from './sources.js';

/** The parsed value of a setting. */
export type SettingValue = string | number | boolean | string[];

const secondsPerUnit: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600 };
const joinWithOr = (words: readonly string[]): string =>
  `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

/** Parses the value of a setting, and adds a problem if its type or bounds are wrong. */
export function parseSetting(
  { flag, value, oneOf, maxInteger, isPositive }: Setting,
  given: GivenValue['value'],
  problems: string[],
): SettingValue {
  const reject = (expected: string): void => {
    problems.push(`--${flag} must be ${expected}`);
  };
  if (value === 'boolean') {
    if (!['true', 'false'].includes(String(given))) reject('true or false');
    return String(given) === 'true';
  }
  if (value === 'list') {
    return typeof given === 'object'
      ? given
      : String(given)
          .split(',')
          .map((item) => item.trim())
          .filter(Boolean);
  }
  if (value === 'text') {
    if (oneOf && !oneOf.includes(String(given))) reject(joinWithOr(oneOf));
    return String(given);
  }
  const number =
    typeof given === 'number' ? given : parseNumber(String(given), value === 'seconds');
  if (!Number.isFinite(number) || number < 0) {
    if (value === 'seconds') {
      reject('a duration such as 30s or 5m');
    } else {
      reject(number < 0 ? '0 or more' : 'a number');
    }
    return 0;
  }
  if (maxInteger !== undefined && (!Number.isInteger(number) || number > maxInteger)) {
    reject(`a whole number from 0 to ${maxInteger}; got ${number}`);
  }
  if (isPositive && number === 0) reject('more than 0');
  return number;
}

function parseNumber(text: string, isDuration: boolean): number {
  const [, digits, unit] = durationPattern.exec(text) ?? [];
  return digits === undefined || (unit !== undefined && !isDuration)
    ? NaN
    : Number(digits) * secondsPerUnit[unit ?? 's']!;
}
