/** One line of a comparison, and its line number, counted from 1, in each text. */
export interface DiffRow {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
  readonly before?: number;
  readonly after?: number;
}

/** The maximum cells of the table. A larger difference is shown as one removal and one addition. */
const maxCells = 9_000_000;

/** Returns the lengths of the longest common subsequences of all suffixes, row by row. */
function commonLengths(before: readonly string[], after: readonly string[]): Uint16Array {
  const width = after.length + 1;
  const table = new Uint16Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const here = i * width + j;
      table[here] =
        before[i] === after[j]
          ? table[here + width + 1]! + 1
          : Math.max(table[here + width]!, table[here + 1]!);
    }
  }
  return table;
}

/** Returns the rows of a range that begins and ends with a difference. */
function diffRows(before: readonly string[], after: readonly string[], from: number): DiffRow[] {
  const table = before.length * after.length > maxCells ? undefined : commonLengths(before, after);
  const length = (i: number, j: number): number => table?.[i * (after.length + 1) + j] ?? 0;
  const rows: DiffRow[] = [];
  for (let [i, j] = [0, 0]; i < before.length || j < after.length; ) {
    if (table && i < before.length && j < after.length && before[i] === after[j]) {
      rows.push({ kind: 'same', text: before[i]!, before: from + ++i, after: from + ++j });
    } else if (i < before.length && (j === after.length || length(i + 1, j) >= length(i, j + 1))) {
      rows.push({ kind: 'removed', text: before[i]!, before: from + ++i });
    } else {
      rows.push({ kind: 'added', text: after[j]!, after: from + ++j });
    }
  }
  return rows;
}

/**
 * Compares two texts line by line with as many unchanged lines as possible. Removed lines come
 * before the lines that replace them.
 */
export function compare(before: readonly string[], after: readonly string[]): DiffRow[] {
  const least = Math.min(before.length, after.length);
  let start = 0;
  while (start < least && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const same = (text: string, i: number, shift: number): DiffRow => ({
    kind: 'same',
    text,
    before: i + 1,
    after: i + 1 + shift,
  });
  return [
    ...before.slice(0, start).map((text, i) => same(text, i, 0)),
    ...diffRows(
      before.slice(start, before.length - end),
      after.slice(start, after.length - end),
      start,
    ),
    ...before
      .slice(before.length - end)
      .map((text, i) => same(text, before.length - end + i, after.length - before.length)),
  ];
}

/** Consecutive rows: differences with their context, or unchanged lines that are folded. */
export interface Hunk {
  readonly folded: boolean;
  readonly rows: readonly DiffRow[];
}

/**
 * Splits rows into hunks. Unchanged lines further than `around` from a difference are folded if
 * there is more than one.
 */
export function toHunks(rows: readonly DiffRow[], around = 3): Hunk[] {
  const shown = new Set<number>();
  rows.forEach(({ kind }, i) => {
    if (kind === 'same') return;
    for (let n = i - around; n <= i + around; n += 1) shown.add(n);
  });
  const blocks: { folded: boolean; rows: DiffRow[] }[] = [];
  rows.forEach((row, i) => {
    const folded = !shown.has(i);
    if (blocks.at(-1)?.folded === folded) {
      blocks.at(-1)!.rows.push(row);
    } else {
      blocks.push({ folded, rows: [row] });
    }
  });
  return blocks.map((block) => (block.rows.length > 1 ? block : { ...block, folded: false }));
}
