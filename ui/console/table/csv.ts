import type { Row } from '../base/table.js';
import type { DataColumn } from './column.js';

/** Returns a field of a CSV file (RFC 4180). A program for tables calculates no text of it. */
function field(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Saves rows as a file of comma-separated values, in UTF-8 with the mark that Excel reads. */
export function saveCSV(name: string, columns: readonly DataColumn[], rows: readonly Row[]): void {
  const lines = [
    columns.map(({ title }) => field(title)),
    ...rows.map((row) => columns.map(({ text }) => field(text(row)))),
  ];
  const file = new Blob([`\u{feff}${lines.map((line) => `${line.join()}\r\n`).join('')}`], {
    type: 'text/csv',
  });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = `${name}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
