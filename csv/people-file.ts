/** A person of a file, and the line that they end on. */
export interface PersonRow {
  readonly line: number;
  readonly email: string;
  readonly displayName: string;
  readonly groups: readonly string[];
}

/** Why a line is refused: its number of fields, no address, or that of the line `former`. */
export interface WrongRow {
  readonly line: number;
  readonly email: string;
  readonly fault: 'fields' | 'noemail' | 'twice';
  readonly former: number;
}

/** What a file says: its people and its wrong lines, or what is wrong with its heading. */
export type PeopleFile =
  | { readonly rows: readonly PersonRow[]; readonly wrong: readonly WrongRow[] }
  | { readonly fault: 'column'; readonly column: string }
  | { readonly fault: 'noheading' };

/** The columns that a file may have; it must have the first. */
export const peopleColumns = ['email', 'displayName', 'groups'];

/** A record of csv-parse, with its last line and what is wrong with it. */
interface ParsedRecord {
  readonly record: Partial<Record<string, string>>;
  readonly info: { readonly lines: number; readonly error?: Error };
}

/**
 * Reads CSV (RFC 4180) with a heading, for the command and for the console. `parse` is csv-parse as
 * either has it; what it throws is thrown.
 */
export function readPeople(
  text: string,
  parse: (text: string, options: object) => unknown,
): PeopleFile {
  let heading: string[] = [];
  const records = parse(text, {
    bom: true,
    columns: (names: string[]) => (heading = names),
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
  }) as readonly ParsedRecord[];
  const column = heading.find((name) => !peopleColumns.includes(name));
  if (column !== undefined) return { fault: 'column', column };
  return heading.includes('email') ? sortRecords(records) : { fault: 'noheading' };
}

function sortRecords(records: readonly ParsedRecord[]): PeopleFile {
  const rows: PersonRow[] = [];
  const wrong: WrongRow[] = [];
  const lines = new Map<string, number>();
  for (const { record, info } of records) {
    const { email = '', displayName = '', groups = '' } = record;
    const line = info.lines;
    const former = lines.get(email.toLowerCase());
    const fault = faultOf(email, info.error, former);
    if (fault) {
      wrong.push({ line, email, fault, former: former ?? 0 });
      continue;
    }
    lines.set(email.toLowerCase(), line);
    rows.push({ line, email, displayName, groups: namesOf(groups) });
  }
  return { rows, wrong };
}

function faultOf(
  email: string,
  error: Error | undefined,
  former: number | undefined,
): WrongRow['fault'] | undefined {
  if (error) return 'fields';
  if (email === '') return 'noemail';
  return former === undefined ? undefined : 'twice';
}

const namesOf = (text: string): string[] => [
  ...new Set(
    text
      .split(';')
      .map((name) => name.trim())
      .filter(Boolean),
  ),
];
