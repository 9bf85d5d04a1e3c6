import type { ObjectMeta } from '../../api.js';
import { ApiError, call } from '../../base/api/api.js';
import { delay } from '../../base/api/watch.js';
import type { PersonRow } from '../../../csv/people-file.js';
import type { Refusal } from './import-file.js';
import type { Kind } from '../base/kind.js';
import { objectPath } from '../base/kubectl.js';

/** The number of requests at the same time. */
const concurrency = 8;

/** How often a request is repeated while the service is busy, and the first wait in milliseconds. */
const maxTries = 8;
const firstWaitMs = 250;

/** What an import did, or would do. */
export interface ImportResult {
  readonly created: number;
  readonly unchanged: number;
  /** Memberships of Groups that are new. */
  readonly joined: number;
  readonly refusals: readonly Refusal[];
}

interface Group {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly members?: readonly string[] };
}

interface Options {
  readonly accounts: Kind;
  readonly groups: Kind | undefined;
  /** Everything is checked and nothing is changed. */
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  /** Receives how many people are done. */
  readonly onProgress: (done: number) => void;
}

/** Repeats a request that the service is too busy for (429 and 503). */
async function whileBusy<T>(request: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await request();
    } catch (error) {
      const isBusy = error instanceof ApiError && [429, 503].includes(error.code);
      if (!isBusy || tries >= maxTries) throw error;
      await delay(firstWaitMs * 2 ** (tries - 1));
    }
  }
}

/**
 * Creates the accounts that do not exist and adds people to Groups; a second run changes nothing.
 * Throws an ApiError if the caller may not, or needs another sign-in.
 */
export async function importPeople(
  rows: readonly PersonRow[],
  options: Options,
): Promise<ImportResult> {
  const query = options.isDryRun ? '?dryRun=All' : '';
  const missing = await findMissingGroups(rows, options);
  const refusals: Refusal[] = [];
  const accepted: PersonRow[] = [];
  const counts = { created: 0, unchanged: 0 };
  const remaining = rows.values();
  let done = 0;
  const work = async (): Promise<void> => {
    for (const row of remaining) {
      if (options.signal.aborted) return;
      const refusal =
        groupRefusal(row, missing) ?? (await createAccount(row, options, query, counts));
      if (refusal) {
        refusals.push(refusal);
      } else {
        accepted.push(row);
      }
      done += 1;
      options.onProgress(done);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  const joined = await joinGroups(accepted, options, query);
  return { ...counts, joined, refusals };
}

function groupRefusal(
  { line, email, groups }: PersonRow,
  missing: ReadonlySet<string>,
): Refusal | undefined {
  const group = groups.find((name) => missing.has(name));
  return group === undefined
    ? undefined
    : { line, email, reason: 'console.import.nogroup', values: { group } };
}

async function createAccount(
  { line, email, displayName }: PersonRow,
  { accounts }: Options,
  query: string,
  counts: { created: number; unchanged: number },
): Promise<Refusal | undefined> {
  const { apiVersion, kind } = accounts;
  const spec = { email, ...(displayName && { displayName }) };
  try {
    await whileBusy(() => call('POST', accounts.path + query, { apiVersion, kind, spec }));
    counts.created += 1;
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError) || ![409, 422].includes(error.code)) throw error;
    if (error.code === 422) return { line, email, message: error.message };
    counts.unchanged += 1;
    return undefined;
  }
}

/** Returns the Groups that rows name and that do not exist. */
async function findMissingGroups(
  rows: readonly PersonRow[],
  { groups }: Options,
): Promise<Set<string>> {
  const missing = new Set<string>();
  for (const name of new Set(rows.flatMap((row) => row.groups))) {
    const found =
      groups &&
      (await call<Group>('GET', objectPath(groups, name)).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 404) return undefined;
        throw error;
      }));
    if (!found) missing.add(name);
  }
  return missing;
}

/** Adds people to their Groups, with one change a Group. Returns how many memberships are new. */
async function joinGroups(
  rows: readonly PersonRow[],
  { groups }: Options,
  query: string,
): Promise<number> {
  let joined = 0;
  for (const name of new Set(rows.flatMap((row) => row.groups))) {
    const addresses = rows.filter((row) => row.groups.includes(name)).map(({ email }) => email);
    joined += await whileContended(() => joinGroup(objectPath(groups!, name), addresses, query));
  }
  return joined;
}

async function joinGroup(
  path: string,
  addresses: readonly string[],
  query: string,
): Promise<number> {
  const { metadata, spec } = await call<Group>('GET', path);
  const members = spec.members ?? [];
  const known = new Set(members.map((member) => member.toLowerCase()));
  const added = addresses.filter((address) => !known.has(address.toLowerCase()));
  if (added.length > 0) {
    await call('PATCH', path + query, {
      metadata: { resourceVersion: metadata.resourceVersion },
      spec: { members: [...members, ...added] },
    });
  }
  return added.length;
}

/** Repeats a change of a Group that someone else changed at the same time. */
async function whileContended(change: () => Promise<number>): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await change();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 409 || tries >= maxTries) throw error;
      await delay(firstWaitMs * tries);
    }
  }
}
