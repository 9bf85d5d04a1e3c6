import type { Result } from './result.js';

const widths = [5, 30, 16, 26, 8, 8, 8, 9, 6] as const;
const columns = (cells: readonly string[]): string =>
  ` ${cells
    .map((cell, i) => (i < widths.length ? cell.padEnd(widths[i]!) : cell))
    .join('')
    .trimEnd()}`;

/** The line above the results. */
export const heading = columns([
  '#',
  'workload',
  'ours',
  'peer',
  'ratio',
  'spread',
  'gate',
  'stretch',
  'memo',
  'verdict',
]);

/** One metric in one line. */
export function lineOf(result: Result): string {
  const { id, workload, ours, peer, unit, is, verdict, reason, memo } = result;
  const measured = ours !== undefined;
  return columns([
    id,
    workload,
    measured ? amount(ours, unit) : '–',
    peer ? `${amount(peer.value, unit)} ${peer.name}` : '–',
    measured && peer ? result.ratio.toFixed(2) : '–',
    measured ? result.spread.toFixed(2) : '–',
    `${is} ${bound(result.gate)}`,
    `${is} ${bound(result.stretch)}`,
    memo && memo.hits + memo.misses > 0 ? (memo.hits / (memo.hits + memo.misses)).toFixed(3) : '–',
    reason ? `${verdict}: ${reason}` : verdict,
  ]);
}

const bound = (value: number): string =>
  Number.isInteger(value) && value < 10 ? value.toFixed(1) : String(value);

function digitsOf(size: number): number {
  if (size >= 1000) return 0;
  return size >= 1 ? 1 : 2;
}

function amount(value: number, unit: string): string {
  const digits = digitsOf(Math.abs(value));
  return `${value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`.trimEnd();
}
