import type { Result, SideResult } from './result.js';

const widths = [5, 34, 16, 34, 8, 8, 8, 9, 6] as const;
const sideWidths = [5, 36, 14, 9, 12, 10, 12, 9, 11, 11] as const;
const inColumns = (widths: readonly number[], cells: readonly string[]): string =>
  ` ${cells
    .map((cell, i) => (i < widths.length ? cell.padEnd(widths[i]!) : cell))
    .join('')
    .trimEnd()}`;
const columns = (cells: readonly string[]): string => inColumns(widths, cells);

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
    bound(is, result.gate),
    bound(is, result.stretch),
    memo && memo.hits + memo.misses > 0 ? (memo.hits / (memo.hits + memo.misses)).toFixed(3) : '–',
    reason ? `${verdict}: ${reason}` : verdict,
  ]);
}

const bound = (is: string, value: number | undefined): string =>
  value === undefined ? '–' : `${is} ${boundary(value)}`;
const boundary = (value: number): string =>
  Number.isInteger(value) && value < 10 ? value.toFixed(1) : String(value);

function digitsOf(size: number): number {
  if (size >= 1000) return 0;
  return size >= 1 ? 1 : 2;
}

function amount(value: number, unit: string): string {
  const digits = digitsOf(Math.abs(value));
  return `${value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`.trimEnd();
}

/** The columns of the table of sides. */
export const sideColumns = [
  '#',
  'side',
  'operations/s',
  'CPU ms',
  'kB written',
  'start ms',
  'MB at rest',
  'MB used',
  'anonymous',
  'after',
  'warm-up',
] as const;

/** What each side of a row costs that counts it, one side a row of cells. */
export const sideCells = (results: readonly Result[]): string[][] => {
  const seen = new Set<string>();
  return results.flatMap(({ id, sides }) =>
    sides.flatMap((side) => {
      const key = `${id.replace(/\D+$/, '')} ${side.name}`;
      if ((side.written === undefined && side.costs === undefined) || seen.has(key)) return [];
      seen.add(key);
      return [[id.replace(/\D+$/, ''), side.name, ...costCells(side)]];
    }),
  );
};

/** The table of sides, in lines; none where no side counted what it costs. */
export function sideLines(results: readonly Result[]): string[] {
  const cells = sideCells(results);
  return cells.length === 0
    ? []
    : [inColumns(sideWidths, sideColumns), ...cells.map((row) => inColumns(sideWidths, row))];
}

function costCells({
  operations,
  seconds,
  cpuMicros,
  written,
  warmUp,
  costs,
}: SideResult): string[] {
  return [
    amount(operations / seconds, ''),
    amount(cpuMicros / 1000 / operations, ''),
    written === undefined ? '–' : amount(written / 1000, ''),
    ...(costs
      ? [
          amount(costs.startMs, ''),
          amount(costs.restBytes / 2 ** 20, ''),
          amount(costs.usedBytes / 2 ** 20, ''),
          amount(costs.usedAnonymousBytes / 2 ** 20, ''),
          costs.signInCount.toLocaleString('en-US'),
        ]
      : ['–', '–', '–', '–', '–']),
    warmUp?.toLocaleString('en-US') ?? '–',
  ];
}
