import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { release } from '../../../observability/build-info.js';
import { isLoopback } from '../../../security/loopback.js';
import { raiseEpoch } from '../../../storage/epoch.js';
import { serverUrlsProblem } from '../../../storage/etcd/server-urls.js';
import type { SnapshotRecord } from '../../../storage/snapshot/last-snapshot.js';
import {
  allKeys,
  type SnapshotProgress,
  type SnapshotStats,
} from '../../../storage/snapshot/layout.js';
import type { Snapshot } from '../../../storage/snapshot/reader.js';
import type { SnapshotSource } from '../../../storage/snapshot/source.js';
import type { RestoreResult } from '../../../storage/snapshot/target.js';
import type { SaveResult } from '../../../storage/snapshot/writer.js';
import type { Storage } from '../../../storage/storage.js';
import { formatTable } from '../client/output/columns.js';
import { parseInvocation } from '../client/run.js';
import type { Config } from '../options/config.js';
import { incompletePairs } from '../options/config-validation.js';
import { readSecretFile } from '../options/secret-file.js';
import { embeddedFolder, etcdOptions } from '../serve/open-storage.js';
import { subcommands } from '../terminal/commands.js';
import { CommandError } from '../terminal/errors.js';
import type { FlagValues } from '../terminal/flags.js';
import { printHelp, usageError } from '../terminal/help.js';
import { program } from '../terminal/program-name.js';
import { errorMessage } from '../terminal/thrown.js';
import { ProgressBar } from './progress.js';
import type { Revocation } from './revocations.js';

type StoreConfig = Config['store'];

/** The longest that one request to etcd waits: a save or restore rather takes longer than ends. */
const maintenanceTimeoutMs = 30_000;

/** Runs `vestibule snapshot save|restore FILE` (docs/design/storage.md#snapshots). */
export async function snapshot(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const {
    args: [verb, file, ...extra],
    flags,
  } = parseInvocation(subcommands['snapshot']!, args);
  if (flags.help) return printHelp('snapshot');
  if ((verb !== 'save' && verb !== 'restore') || file === undefined || extra.length > 0) {
    throw usageError('snapshot');
  }
  const since = flags['revoke-since'];
  if (since !== undefined && verb === 'save') {
    throw new CommandError('--revoke-since is a flag of snapshot restore only', 2);
  }
  const storeConfig = storeOf(flags, environment);
  await runInterruptible((signal) =>
    verb === 'save'
      ? save(file, storeConfig, signal)
      : restore(file, { store: storeConfig, since }, signal),
  );
}

/**
 * Runs `vestibule epoch raise`, for a store that was restored with etcd's own tools, before any
 * replica starts.
 */
export async function epoch(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const {
    args: [verb, ...more],
    flags,
  } = parseInvocation(subcommands['epoch']!, args);
  if (flags.help) return printHelp('epoch');
  if (verb !== 'raise' || more.length > 0) throw usageError('epoch');
  const storeConfig = storeOf(flags, environment);
  if (!flags.yes) {
    await confirm('This ends every session, code, link and token of this store. Raise the epoch?');
  }
  const raised = await withStorage(storeConfig, {}, raiseEpoch);
  process.stdout.write(`the epoch is now ${raised}: everything issued before is refused\n`);
}

async function save(file: string, store: StoreConfig, signal: AbortSignal): Promise<void> {
  const [
    { saveSnapshot, assertNotExists: refuseExisting },
    { snapshotSource: sourceOf },
    { readEmbedded },
  ] = await Promise.all([
    import('../../../storage/snapshot/writer.js'),
    import('../../../storage/snapshot/source.js'),
    import('../../../storage/embedded/snapshot-source.js'),
  ]);
  refuseExisting(file);
  const progress = new ProgressBar('saved', signal);
  const saveFrom = async (source: SnapshotSource, record: SnapshotRecord): Promise<SaveResult> => {
    const result = await saveSnapshot(source, file, release, progress);
    await recordSaved(record, result);
    return result;
  };
  const saved =
    store.type === 'embedded'
      ? await readEmbedded(embeddedFolder(store.directory), (source) => saveFrom(source, store))
      : await withStorage(store, {}, async (storage) =>
          saveFrom(await sourceOf(storage, 'etcd'), { storage }),
        );
  progress.end();
  process.stdout.write(savedText(file, saved));
}

/** Records a saved snapshot for the console; the snapshot is complete without it. */
async function recordSaved(record: SnapshotRecord, { header }: SaveResult): Promise<void> {
  const { recordSnapshot } = await import('../../../storage/snapshot/last-snapshot.js');
  await recordSnapshot(record, header.time).catch((error: unknown) =>
    process.stderr.write(
      `${program}: the time of this snapshot could not be recorded, so the console does not show ` +
        `it: ${errorMessage(error)}\n`,
    ),
  );
}

async function restore(
  file: string,
  { store, since }: { store: StoreConfig; since: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const from = since === undefined ? undefined : parseTime(since);
  const { verifySnapshot } = await import('../../../storage/snapshot/reader.js');
  const snapshotFile = await verifySnapshot(file);
  const progress = new ProgressBar('restored', signal, snapshotFile.items);
  const revocation =
    from === undefined ? undefined : await readRevocationSince(snapshotFile, since!, from);
  const restored = await restoreInto(store, snapshotFile, progress, revocation);
  progress.end();
  process.stdout.write(restoredText(file, restored, revocation && revokedText(since!, revocation)));
  const keys = store.type === 'embedded' ? join(store.directory, 'keys.json') : undefined;
  if (keys !== undefined && !existsSync(keys)) {
    process.stderr.write(
      `${program}: ${keys} does not exist: copy the keys of the saved store there before you start the ` +
        `service, or set --keys-file; with new keys, sealed values cannot be opened\n`,
    );
  }
}

async function restoreInto(
  store: StoreConfig,
  snapshotFile: Snapshot,
  progress: SnapshotProgress,
  revocation: Revocation | undefined,
): Promise<RestoreResult> {
  if (store.type === 'embedded') {
    return (await import('../../../storage/embedded/restore.js')).restoreEmbedded(
      embeddedFolder(store.directory),
      snapshotFile,
      progress,
      revocation?.revise,
    );
  }
  const { fillStorage } = await import('../../../storage/etcd/restore.js');
  return withStorage(store, { allowPartial: true }, (storage) =>
    fillStorage(storage, snapshotFile, progress, revocation?.revise),
  );
}

/**
 * Parses a time of RFC 3339, or a date, which begins at midnight UTC; returns milliseconds since
 * the epoch.
 */
function parseTime(text: string): number {
  const [, day] =
    /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d))?$/.exec(text) ?? [];
  const isDay =
    day !== undefined &&
    !Number.isNaN(Date.parse(day)) &&
    new Date(day).toISOString().startsWith(day);
  const time = isDay ? Date.parse(text) : NaN;
  if (Number.isNaN(time)) {
    throw new CommandError(
      '--revoke-since must be a date such as 2025-11-01, or a time such as 2025-11-01T09:30:00Z ' +
        `(got ${JSON.stringify(text)})`,
      2,
    );
  }
  return time;
}

/**
 * Reads what a restore leaves out. Throws for a time after the snapshot, before anything is
 * written.
 */
async function readRevocationSince(
  snapshotFile: Snapshot,
  since: string,
  from: number,
): Promise<Revocation> {
  if (from > Date.parse(snapshotFile.header.time)) {
    throw new CommandError(
      `--revoke-since ${since} is after ${snapshotFile.file} was saved (${snapshotFile.header.time}): nothing ` +
        'in it was added since then; give an earlier date, or leave the flag out',
      2,
    );
  }
  return (await import('./revocations.js')).readRevocation(snapshotFile, from);
}

/** Opens a store, an embedded one exclusively, runs `work` and closes the store. */
export async function withStorage<T>(
  store: StoreConfig,
  options: { allowPartial?: boolean },
  work: (storage: Storage) => Promise<T>,
): Promise<T> {
  if (store.type === 'embedded') requireStore(store.directory);
  const storage =
    store.type === 'embedded'
      ? await (await import('../../../storage/embedded/embedded.js')).openEmbedded({
          directory: embeddedFolder(store.directory),
        })
      : await (await import('../../../storage/etcd/etcd.js')).openEtcd({
          ...etcdOptions(store),
          ...options,
          requestTimeoutMs: maintenanceTimeoutMs,
          onWarning: (message) => process.stderr.write(`${program}: ${message}\n`),
        });
  try {
    if (store.type === 'etcd' && !options.allowPartial && (await storage.count(allKeys)) === 0) {
      throw new CommandError(`there is no store below ${store.prefix} in etcd`);
    }
    return await work(storage);
  } finally {
    await storage.close();
  }
}

function requireStore(directory: string): void {
  if (!existsSync(embeddedFolder(directory))) {
    throw new CommandError(`there is no store in ${embeddedFolder(directory)}`);
  }
}

/** Returns the store from flags, or else from the variables of `serve`. */
export function storeOf(flags: FlagValues, environment: NodeJS.ProcessEnv): StoreConfig {
  type Name =
    | 'data-dir'
    | 'etcd-servers'
    | 'etcd-prefix'
    | 'etcd-cafile'
    | 'etcd-certfile'
    | 'etcd-keyfile'
    | 'etcd-username';
  const given = (name: Name): string | undefined =>
    (flags[name] ?? environment[`VESTIBULE_${name.toUpperCase().replaceAll('-', '_')}`]) ||
    undefined;
  const [directory, servers] =
    flags['data-dir'] !== undefined || flags['etcd-servers'] !== undefined
      ? [flags['data-dir'], flags['etcd-servers']]
      : [given('data-dir'), given('etcd-servers')];
  if ((directory === undefined) === (servers === undefined)) {
    throw new CommandError(
      directory === undefined
        ? 'no store given: set --data-dir or --etcd-servers'
        : '--data-dir and --etcd-servers are both set; set only one store',
      2,
    );
  }
  if (directory !== undefined) return { type: 'embedded', directory };
  const urls = servers!
    .split(',')
    .map((url) => url.trim())
    .filter(Boolean);
  const serversProblem = serverUrlsProblem(urls, isLoopback);
  if (serversProblem !== undefined) throw new CommandError(`--etcd-servers: ${serversProblem}`, 2);
  const caFile = given('etcd-cafile');
  const certFile = given('etcd-certfile');
  const keyFile = given('etcd-keyfile');
  const username = given('etcd-username');
  const password = passwordOf(environment);
  const [problem] = incompletePairs({
    'etcd-certfile': certFile,
    'etcd-keyfile': keyFile,
    'etcd-username': username,
    'etcd-password': password,
  });
  if (problem !== undefined) throw new CommandError(problem, 2);
  return {
    type: 'etcd',
    servers: urls,
    prefix: given('etcd-prefix') ?? '/vestibule/',
    ...(caFile && { caFile }),
    ...(certFile && { certFile }),
    ...(keyFile && { keyFile }),
    ...(username && { username }),
    ...(password && { password }),
  };
}

/** Returns the password of etcd's user from its variable, or from the file that one names. */
function passwordOf({
  VESTIBULE_ETCD_PASSWORD: password,
  VESTIBULE_ETCD_PASSWORD_FILE: file,
}: NodeJS.ProcessEnv): string | undefined {
  if (password || !file) return password || undefined;
  try {
    return readSecretFile(file).trim();
  } catch (error) {
    throw new CommandError(`VESTIBULE_ETCD_PASSWORD_FILE: ${errorMessage(error)}`, 2);
  }
}

/** Asks for confirmation on the terminal. Throws without a terminal or without consent. */
async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new CommandError('no terminal to confirm on: add --yes', 2);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('nothing was changed');
}

/** Aborts the work on SIGINT and SIGTERM, and exits with 130 when it has ended. */
async function runInterruptible(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => abort.abort());
  try {
    await work(abort.signal);
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    process.stderr.write(`${program}: interrupted\n`);
    process.exit(130);
  }
}

const savedText = (file: string, { header, stats: tally }: SaveResult): string =>
  `saved ${file}: ${sizeText(tally)} of ${storeName(header.store)}, as of revision ${header.revision}, ` +
  `epoch ${header.epoch}\n${table(tally)}`;

const restoredText = (
  file: string,
  { header, stats: tally, epoch: newEpoch, base }: RestoreResult,
  revoked?: string,
): string =>
  `restored ${file}: ${sizeText(tally)} of ${storeName(header.store)}, saved ${header.time}\nrevisions continue above ${base}; the epoch is ${newEpoch}: sessions, codes, links and ` +
  `tokens issued before are refused\n${revivedText(header.time, tally, revoked === undefined)}${revoked ?? ''}${table(tally)}`;

/** Returns the lines that say what was left out, and what follows from it. */
function revokedText(
  since: string,
  { passkeys, accounts, withoutPasskey, operatorsGroup }: Revocation,
): string {
  const group = {
    Absent: '',
    Kept: 'Group operators was not changed since, and stays\n',
    LeftOut:
      'left out: Group operators, whose members may have been added since; until it lists ' +
      'members again, operators are those of the setting --operators\n',
  };
  return (
    `left out: ${passkeys} passkeys registered since ${since}, of ${accounts} accounts, ` +
    `${withoutPasskey} of which have none left and sign in by mail\n${group[operatorsGroup]}`
  );
}

/**
 * Lists what a restore may have brought back: a snapshot does not know what was removed after it.
 * Points to `--revoke-since` if `isOffered`.
 */
function revivedText(time: string, { ranges }: SnapshotStats, isOffered: boolean): string {
  const revivedRanges = ['accounts', 'passkeys', 'grants', 'groups', 'clients', 'policies'].flatMap(
    (range) =>
      ranges.has(`objects/${range}`) ? [`${ranges.get(`objects/${range}`)!.keys} ${range}`] : [],
  );
  return revivedRanges.length === 0
    ? ''
    : `restored as of ${time}, without later removals and changes: ${revivedRanges.join(', ')}; ` +
        `compare with the audit log since then${isOffered ? '; to leave out passkeys and operators added since a date, restore into another store with --revoke-since DATE' : ''}\n`;
}

const storeName = (store: 'embedded' | 'etcd'): string =>
  store === 'etcd' ? 'a store in etcd' : 'an embedded store';
const sizeText = ({ keys, bytes }: SnapshotStats): string => `${keys} keys, ${bytes} bytes`;

/** Formats the number of keys and bytes by range. */
const table = ({ ranges }: SnapshotStats): string =>
  formatTable(
    ['RANGE', 'KEYS', 'BYTES'],
    [...ranges].map(([range, { keys, bytes }]) => [range, String(keys), String(bytes)]),
  );
