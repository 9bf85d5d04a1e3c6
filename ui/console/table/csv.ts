import type { Row } from '../base/table.js';
import type { DataColumn } from './column.js';

/** Returns a field of a CSV file (RFC 4180). A program for tables calculates no text of it. */
function field(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Saves lines as a file of comma-separated values, in UTF-8 with the mark that Excel reads. */
export function saveLines(name: string, lines: readonly (readonly string[])[]): void {
  const text = lines.map((line) => `${line.map(field).join()}\r\n`).join('');
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([`\u{feff}${text}`], { type: 'text/csv' }));
  link.download = `${name}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Saves rows of a table as such a file. */
export const saveCSV = (name: string, columns: readonly DataColumn[], rows: readonly Row[]): void =>
  saveLines(name, [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ text }) => text(row))),
  ]);
