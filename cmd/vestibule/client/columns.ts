/** The gap after a cell and the smallest width of a column, as in kubectl. */
const [gap, least] = [3, 6];

/** Prints rows in aligned columns like kubectl. Widths only grow between calls. */
export class Columns {
  #widths: number[] = [];

  print(rows: readonly (readonly string[])[]): string {
    for (const row of rows)
      for (const [at, cell] of row.entries())
        if (at < row.length - 1)
          this.#widths[at] = Math.max(this.#widths[at] ?? least, width(cell) + gap);
    return rows
      .map(
        (row) =>
          `${row.map((cell, at) => (at === row.length - 1 ? cell : cell + ' '.repeat(this.#widths[at]! - width(cell)))).join('')}\n`,
      )
      .join('');
  }
}

/** Formats rows under their headings. */
export const table = (headings: readonly string[], rows: readonly (readonly string[])[]): string =>
  new Columns().print([headings, ...rows]);

const width = (text: string): number => [...text].length;
