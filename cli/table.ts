/** Rows under their headings, in columns as wide as they need to be, as kubectl prints them. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => width(row[column] ?? ''))));
  return all.map((row) => `${row.map((cell, column) => (column === row.length - 1 ? cell : cell + ' '.repeat(widths[column]! - width(cell) + 3))).join('')}\n`).join('');
}

const width = (text: string): number => [...text].length;
