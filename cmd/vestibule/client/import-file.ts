import { CsvError, parse } from 'csv-parse/sync';
import {
  decodeText,
  type PeopleFile,
  type PersonRow,
  peopleColumns,
  readPeople,
  type WrongRow,
} from '../../../csv/people-file.js';
import { CommandError } from '../terminal/errors.js';
import { readBytes } from '../terminal/files.js';

/** Why a line of the file was not imported. */
export interface Refusal {
  readonly line: number;
  readonly why: string;
}

/**
 * Reads a CSV file with a heading; `-` is standard input. Throws if the file is no CSV or its columns
 * are unknown.
 */
export function readImportFile(file: string): {
  rows: readonly PersonRow[];
  refusals: readonly Refusal[];
} {
  const found = parseFile(file);
  if ('rows' in found) {
    return {
      rows: found.rows,
      refusals: found.wrong.map((row) => ({ line: row.line, why: faults[row.fault](row) })),
    };
  }
  if (found.fault === 'noheading') throw new CommandError('the heading has no column email', 2);
  throw new CommandError(
    `unknown column ${JSON.stringify(found.column)}: the heading may have ${peopleColumns.join(', ')}`,
    2,
  );
}

const faults: Record<WrongRow['fault'], (row: WrongRow) => string> = {
  fields: () => 'another number of fields than the heading',
  noemail: () => 'no email',
  twice: ({ email, former }) => `${email}: the same address as line ${former}`,
};

function parseFile(file: string): PeopleFile {
  try {
    return readPeople(decodeText(readBytes(file)), parse);
  } catch (error) {
    if (error instanceof CsvError) throw new CommandError(`${file}: ${error.message}`);
    throw error;
  }
}
