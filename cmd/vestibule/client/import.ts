import { setTimeout as wait } from 'node:timers/promises';
import { ApiStatusError, CommandError } from '../terminal/errors.js';
import type { Invocation } from '../terminal/flags.js';
import { writeError, writeOut } from '../terminal/output.js';
import { program } from '../terminal/program-name.js';
import { ProgressLine } from '../terminal/progress-line.js';
import { type ApiClient, clientFor } from './connection/api-client.js';
import { isDryRun } from './dry-run.js';
import { type ImportRow, type Refusal, readImportFile } from './import-file.js';
import { ImportGroups } from './import-groups.js';

/** The number of requests at the same time. */
const concurrency = 16;

/** The most members that a Group can have. */
const maxMembers = 1000;

/** How often a request is repeated while the service is busy, and the first wait in milliseconds. */
const maxTries = 8;
const firstWaitMs = 250;

/** The state of an import. */
interface Import {
  readonly service: ApiClient;
  readonly query: string;
  readonly known: ReadonlySet<string>;
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
  if (file === undefined || args.length > 1)
    throw new CommandError(`import takes a file: ${program} import FILE.csv`, 2);
  const dryRun = isDryRun(flags);
  const { rows, refusals } = readImportFile(file);
  const service = clientFor(invocation);
  const groups = new ImportGroups(service);
  await groups.read(rows, maxMembers);
  const state: Import = {
    service,
    query: dryRun ? '?dryRun=All' : '',
    known: await readAddresses(service),
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
  for (const { line, why } of [...refusals].sort((a, b) => a.line - b.line))
    writeError(`${file}:${line}: ${why}\n`);
  writeOut(
    `${created} created, ${unchanged} unchanged, ${refusals.length} refused, ` +
      `${joined} added to groups${dryRun ? ' (server dry run)' : ''}\n`,
  );
  if (refusals.length > 0) process.exitCode = 1;
}

interface AccountItem {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly status: { readonly email: { readonly address: string } };
}

/** Returns the addresses that have an account, in lower case. */
async function readAddresses(service: ApiClient): Promise<Set<string>> {
  const known = new Set<string>();
  for (let token = ''; ; ) {
    const query = new URLSearchParams({ limit: '500', ...(token && { continue: token }) });
    const { items, metadata } = await service.requestAPI('GET', `accounts?${query}`);
    for (const {
      metadata: { deletionTimestamp },
      status,
    } of items as AccountItem[])
      if (deletionTimestamp === undefined) known.add(status.email.address.toLowerCase());
    token = metadata.continue ?? '';
    if (token === '') return known;
  }
}

async function importAll(state: Import, rows: readonly ImportRow[]): Promise<void> {
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

async function importRow(state: Import, row: ImportRow): Promise<void> {
  const why = state.groups.keepPlaces(row) ?? (await createAccount(state, row));
  if (why === undefined) return;
  state.refusals.push({ line: row.line, why: `${row.email}: ${why}` });
}

/** Creates the account unless it exists. Returns why it was refused. */
async function createAccount(state: Import, row: ImportRow): Promise<string | undefined> {
  const { email, displayName } = row;
  if (state.known.has(email.toLowerCase())) {
    state.unchanged += 1;
    return undefined;
  }
  try {
    await whileBusy(() =>
      state.service.requestAPI('POST', `accounts${state.query}`, {
        spec: { email, ...(displayName && { displayName }) },
      }),
    );
    state.created += 1;
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiStatusError)) throw error;
    if (error.status === 409) {
      state.unchanged += 1; // another request, or a repeated one, created it
      return undefined;
    }
    state.groups.giveBack(row);
    if (error.status !== 422) throw error;
    const [first = ''] = error.message.split('\n');
    return first.replace(/^Error from server \(Invalid\): /, '');
  }
}

/** Repeats a request that the service is too busy for (429 and 503). */
async function whileBusy<T>(request: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await request();
    } catch (error) {
      const isBusy = error instanceof ApiStatusError && [429, 503].includes(error.status);
      if (!isBusy || tries >= maxTries) throw error;
      await wait(firstWaitMs * 2 ** (tries - 1));
    }
  }
}
