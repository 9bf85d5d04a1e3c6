import { parse } from 'csv-parse/browser/esm/sync';
import { readPeople, type PersonRow } from '../../../csv/people-file.js';
import type { MessageID } from '../../messages/catalog.js';

/** A line that is not imported: why, in words of the page or in those of the server. */
export interface Refusal {
  readonly line: number;
  readonly email: string;
  readonly reason?: MessageID;
  readonly values?: Readonly<Record<string, string | number>>;
  readonly message?: string;
}

/** What a file says: its people and its wrong lines, or why it is no such file. */
export type ImportFile =
  | { readonly rows: readonly PersonRow[]; readonly refusals: readonly Refusal[] }
  | { readonly fault: MessageID; readonly values: Readonly<Record<string, string>> };

/** Reads a file of people as `vestibule import` does. */
export function parseImportFile(text: string): ImportFile {
  try {
    const found = readPeople(text, parse);
    if (!('rows' in found)) {
      const { fault, ...values } = found;
      return { fault: `console.import.${fault}`, values };
    }
    return {
      rows: found.rows,
      refusals: found.wrong.map(({ line, email, fault: why, former }) => ({
        line,
        email,
        reason: `console.import.${why}` as const,
        values: { line: former },
      })),
    };
  } catch (error) {
    return { fault: 'console.import.nocsv', values: { message: (error as Error).message } };
  }
}
