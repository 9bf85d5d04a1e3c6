import { parse } from 'csv-parse/browser/esm/sync';
import type { MessageID } from '../../messages/catalog.js';

/** A person of a file, and the line that they end on. */
export interface ImportRow {
  readonly line: number;
  readonly email: string;
  readonly displayName: string;
  readonly groups: readonly string[];
}

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
  | { readonly rows: readonly ImportRow[]; readonly refusals: readonly Refusal[] }
  | { readonly fault: MessageID; readonly values: Readonly<Record<string, string>> };

const columns = ['email', 'displayName', 'groups'];

/** A record of the parser, with its last line and what is wrong with it. */
interface ParsedRecord {
  readonly record: Partial<Record<string, string>>;
  readonly info: { readonly lines: number; readonly error?: Error };
}

/** Parses CSV (RFC 4180) with the heading `email,displayName,groups`, as `vestibule import` does. */
export function parseImportFile(text: string): ImportFile {
  let heading: string[] = [];
  let records: ParsedRecord[];
  try {
    records = parse(text, {
      bom: true,
      columns: (names: string[]) => (heading = names),
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as ParsedRecord[];
  } catch (error) {
    return { fault: 'console.import.nocsv', values: { message: (error as Error).message } };
  }
  const unknown = heading.find((name) => !columns.includes(name));
  if (unknown !== undefined) return { fault: 'console.import.column', values: { column: unknown } };
  if (!heading.includes('email')) return { fault: 'console.import.noheading', values: {} };
  return sortRecords(records);
}

function sortRecords(records: readonly ParsedRecord[]): ImportFile {
  const rows: ImportRow[] = [];
  const refusals: Refusal[] = [];
  const lines = new Map<string, number>();
  for (const { record, info } of records) {
    const { email = '', displayName = '', groups = '' } = record;
    const line = info.lines;
    const reason = faultOf(email, info.error, lines.has(email.toLowerCase()));
    if (reason) {
      const former = lines.get(email.toLowerCase()) ?? 0;
      refusals.push({ line, email, reason, values: { line: former } });
      continue;
    }
    lines.set(email.toLowerCase(), line);
    rows.push({ line, email, displayName, groups: namesOf(groups) });
  }
  return { rows, refusals };
}

function faultOf(email: string, error: Error | undefined, isKnown: boolean): MessageID | undefined {
  if (error) return 'console.import.fields';
  if (!email) return 'console.import.noemail';
  return isKnown ? 'console.import.twice' : undefined;
}

const namesOf = (text: string): string[] => [
  ...new Set(
    text
      .split(';')
      .map((name) => name.trim())
      .filter(Boolean),
  ),
];
