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

/** Other words for the columns, in lower case and without signs, as programs for tables write them. */
const otherHeadings: ReadonlyMap<string, string> = new Map(
  Object.entries({
    email: 'email mail emailaddress emailadresse mailadresse posta eposta courriel correo',
    displayName: 'displayname name fullname anzeigename vollername nom nombre nome naam',
    groups: 'groups group gruppen gruppe groupes groupe grupos grupo gruppi gruppo groepen groep',
  }).flatMap(([column, words]) => words.split(' ').map((word) => [word, column] as const)),
);

/** Returns the column that a heading means, or the heading itself. */
const columnOf = (heading: string): string =>
  otherHeadings.get(heading.toLowerCase().replaceAll(/[^\p{L}]/gu, '')) ?? heading;

/** Returns what separates the fields: what the heading has most of. */
function delimiterOf(text: string): string {
  const [heading = ''] = text.trimStart().split('\n');
  const countOf = (mark: string): number => heading.split(mark).length;
  return [',', ';', '\t'].reduce((most, mark) => (countOf(mark) > countOf(most) ? mark : most));
}

/** Returns the text of a file: UTF-16 with a mark, UTF-8, or else as Windows writes it. */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** A record of csv-parse, with its last line and what is wrong with it. */
interface ParsedRecord {
  readonly record: Partial<Record<string, string>>;
  readonly info: { readonly lines: number; readonly error?: Error };
}

/**
 * Reads CSV (RFC 4180) with a heading, its fields between commas, semicolons or tabs, for the command and
 * for the console. `parse` is csv-parse as
 * either has it; what it throws is thrown.
 */
export function readPeople(
  text: string,
  parse: (text: string, options: object) => unknown,
): PeopleFile {
  let heading: string[] = [];
  const records = parse(text, {
    bom: true,
    columns: (names: string[]) => (heading = names.map(columnOf)),
    delimiter: delimiterOf(text),
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
      .split(/[;,|]/)
      .map((name) => name.trim())
      .filter(Boolean),
  ),
];
