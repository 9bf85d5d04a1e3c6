/** The gap after a cell and the smallest width of a column, as in kubectl. */
const [gap, minWidth] = [3, 6];

/** Prints rows in aligned columns like kubectl. Widths only grow between calls. */
export class Columns {
  #widths: number[] = [];

  print(rows: readonly (readonly string[])[]): string {
    for (const row of rows) {
      for (const [index, cell] of row.entries()) {
        if (index < row.length - 1) {
          this.#widths[index] = Math.max(this.#widths[index] ?? minWidth, width(cell) + gap);
        }
      }
    }
    return rows
      .map(
        (row) =>
          `${row.map((cell, index) => (index === row.length - 1 ? cell : cell + ' '.repeat(this.#widths[index]! - width(cell)))).join('')}\n`,
      )
      .join('');
  }
}

/** Formats rows under their headings. */
export const formatTable = (
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string => new Columns().print([headings, ...rows]);

const width = (text: string): number => [...text].length;
