import { CsvError, parse } from 'csv-parse/sync';
import { CommandError } from '../terminal/errors.js';
import { readInput } from '../terminal/files.js';

/** A person in the file, and the line that they end on. */
export interface ImportRow {
  readonly line: number;
  readonly email: string;
  readonly displayName: string;
  readonly groups: readonly string[];
}

/** Why a line of the file was not imported. */
export interface Refusal {
  readonly line: number;
  readonly why: string;
}

const columns = ['email', 'displayName', 'groups'];

/** A record of the parser, with its last line and what is wrong with it. */
interface ParsedRecord {
  readonly record: Partial<Record<string, string>>;
  readonly info: { readonly lines: number; readonly error?: Error };
}

/**
 * Reads a CSV file (RFC 4180) with a heading; `-` is standard input. Lines with a wrong number of
 * fields, without an address or with the address of an earlier line are refused. Throws if the file
 * is no CSV or its columns are unknown.
 */
export function readImportFile(file: string): {
  rows: readonly ImportRow[];
  refusals: readonly Refusal[];
} {
  const rows: ImportRow[] = [];
  const refusals: Refusal[] = [];
  const lines = new Map<string, number>();
  for (const { record, info } of parseFile(file)) {
    const email = record.email ?? '';
    const line = info.lines;
    const former = lines.get(email.toLowerCase());
    const why = faultOf(email, info.error, former);
    if (why === undefined) {
      lines.set(email.toLowerCase(), line);
      rows.push({
        line,
        email,
        displayName: record.displayName ?? '',
        groups: groupsOf(record.groups ?? ''),
      });
    } else refusals.push({ line, why });
  }
  return { rows, refusals };
}

function faultOf(
  email: string,
  error: Error | undefined,
  former: number | undefined,
): string | undefined {
  if (error) return 'another number of fields than the heading';
  if (email === '') return 'no email';
  return former === undefined ? undefined : `${email}: the same address as line ${former}`;
}

const groupsOf = (text: string): string[] => [
  ...new Set(
    text
      .split(';')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  ),
];

function parseFile(file: string): ParsedRecord[] {
  try {
    return parse(readInput(file), {
      bom: true,
      columns: checkHeading,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as ParsedRecord[];
  } catch (error) {
    if (error instanceof CsvError) throw new CommandError(`${file}: ${error.message}`);
    throw error;
  }
}

function checkHeading(heading: string[]): string[] {
  const unknown = heading.find((name) => !columns.includes(name));
  if (unknown !== undefined)
    throw new CommandError(
      `unknown column ${JSON.stringify(unknown)}: the heading may have ${columns.join(', ')}`,
      2,
    );
  if (!heading.includes('email')) throw new CommandError('the heading has no column email', 2);
  return heading;
}
