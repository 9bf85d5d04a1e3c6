import { now } from '../../base/api/clock.js';
import { locale } from '../../base/text/i18n.js';

const units = [
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', 86_400_000],
] as const;

/** Returns how long ago a timestamp is, such as "9 days ago". */
export function ago(timestamp: string): string {
  const past = Math.max(0, now() - Date.parse(timestamp));
  const [unit, length] = units.findLast(([, least]) => past >= least) ?? units[0];
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' });
  return format.format(-Math.floor(past / length), unit);
}
