import { readFileSync } from 'node:fs';
import type { Recording } from './record.js';
import type { Result } from './result.js';

/** One line for each metric that moved against an earlier run by more than either run's spread. */
export function movedAgainst(file: string, now: readonly Result[]): string[] {
  const before = new Map(
    (JSON.parse(readFileSync(file, 'utf8')) as Recording).rows.map((row) => [row.id, row]),
  );
  return now.flatMap((row) => {
    const former = before.get(row.id);
    if (!former || !Number.isFinite(former.ratio) || !Number.isFinite(row.ratio)) return [];
    const moved = row.ratio / former.ratio;
    const most = Math.max(row.spread, former.spread);
    return moved > most || moved < 1 / most
      ? [`${row.id} ${row.workload}: ${former.ratio.toFixed(2)} → ${row.ratio.toFixed(2)}`]
      : [];
  });
}
