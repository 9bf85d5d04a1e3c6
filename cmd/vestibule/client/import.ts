import type { PersonRow } from '../../../csv/people-file.js';
import { ApiStatusError, CommandError } from '../terminal/errors.js';
import type { Invocation } from '../terminal/flags.js';
import { writeError, writeOut } from '../terminal/output.js';
import { program } from '../terminal/program-name.js';
import { ProgressLine } from '../terminal/progress-line.js';
import { type ApiClient, clientFor, retryOn } from './connection/api-client.js';
import { isDryRun } from './dry-run.js';
import { type Refusal, readImportFile } from './import-file.js';
import { ImportGroups } from './import-groups.js';

/** The number of requests at the same time. */
const concurrency = 16;

/** The most members that a Group can have. */
const maxMembers = 1000;

/** How often a request is sent while the service is busy (429 and 503), and the first wait. */
const whileBusy = { maxTries: 8, waitMs: 250 };

/** The state of an import. */
interface Import {
  readonly service: ApiClient;
  readonly query: string;
  readonly groups: ImportGroups;
  readonly refusals: Refusal[];
  created: number;
  unchanged: number;
}

/**
 * Creates the accounts of a CSV file that do not exist, and adds people to Groups. A second run
 * changes nothing. Prints each refused line, and exits with 1 if there is one.
 */
export async function importPeople(invocation: Invocation): Promise<void> {
  const { args, flags } = invocation;
  const [file] = args;
  if (file === undefined || args.length > 1) {
    throw new CommandError(`import takes a file: ${program} import FILE.csv`, 2);
  }
  const dryRun = isDryRun(flags);
  const { rows, refusals } = readImportFile(file);
  const service = clientFor(invocation);
  const groups = new ImportGroups(service);
  await groups.read(rows, maxMembers);
  const state: Import = {
    service,
    query: dryRun ? '?dryRun=All' : '',
    groups,
    refusals: [...refusals],
    created: 0,
    unchanged: 0,
  };
  await importAll(state, rows);
  const joined = await groups.commit(state.query);
  report(state, file, joined, dryRun);
}

function report(
  { refusals, created, unchanged }: Import,
  file: string,
  joined: number,
  dryRun: boolean,
): void {
  for (const { line, why } of [...refusals].sort((a, b) => a.line - b.line)) {
    writeError(`${file}:${line}: ${why}\n`);
  }
  writeOut(
    `${created} created, ${unchanged} unchanged, ${refusals.length} refused, ` +
      `${joined} added to groups${dryRun ? ' (server dry run)' : ''}\n`,
  );
  if (refusals.length > 0) process.exitCode = 1;
}

async function importAll(state: Import, rows: readonly PersonRow[]): Promise<void> {
  const line = new ProgressLine();
  const remaining = rows.values();
  let done = 0;
  const work = async (): Promise<void> => {
    for (const row of remaining) {
      await importRow(state, row);
      done += 1;
      line.show(() => progressOf(done, rows.length, line.isTerminal));
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, work));
  } finally {
    line.end();
  }
}

function progressOf(done: number, total: number, isTerminal: boolean): string {
  const width = 24;
  const filled = Math.floor((done / total) * width);
  const bar = isTerminal ? `[${'#'.repeat(filled)}${' '.repeat(width - filled)}] ` : '';
  return `${bar}imported ${done} of ${total} people`;
}

async function importRow(state: Import, row: PersonRow): Promise<void> {
  const why = state.groups.keepPlaces(row) ?? (await createAccount(state, row));
  if (why === undefined) return;
  state.refusals.push({ line: row.line, why: `${row.email}: ${why}` });
}

/** Creates the account unless it exists (409). Returns why it was refused. */
async function createAccount(state: Import, row: PersonRow): Promise<string | undefined> {
  const { email, displayName } = row;
  try {
    await retryOn([429, 503], whileBusy, () =>
      state.service.requestAPI('POST', `accounts${state.query}`, {
        spec: { email, ...(displayName && { displayName }) },
      }),
    );
    state.created += 1;
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiStatusError)) throw error;
    if (error.status === 409) {
      state.unchanged += 1;
      return undefined;
    }
    state.groups.giveBack(row);
    if (error.status !== 422) throw error;
    const [first = ''] = error.message.split('\n');
    return first.replace(/^Error from server \(Invalid\): /, '');
  }
}
