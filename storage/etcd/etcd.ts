import { validateKey } from '../limits.js';
import { baseKey, restoringKey } from '../snapshot/layout.js';
import {
  CompactedError,
  type Entry,
  type Revision,
  type Storage,
  type StorageMetrics,
  UnavailableError,
} from '../storage.js';
import { Cluster, type ClusterOptions, type Credentials } from './client.js';
import { EtcdCommitter } from './committer.js';
import { connectionFault } from './connection-fault.js';
import { readSizes } from './db-size.js';
import { EtcdError, isTransient, refusalMessage, toUnavailableError } from './errors.js';
import { Keyspace } from './key-prefix.js';
import { Leases } from './leases.js';
import { CurrentRevision } from './linearizable-revision.js';
import { countRange, type ListContext, readRange } from './lister.js';
import { ProgressKey } from './progress-key.js';
import { RangeParts } from './range-parts.js';
import { ReadBatcher } from './read-batcher.js';
import { serverUrlsProblem } from './server-urls.js';
import { checkVersion, ordersProgress, parseVersion } from './version.js';
import { WatchStreams } from './watch-stream.js';
import { type WatchContext, watchPrefix } from './watcher.js';

/** Options of a store in etcd; times in milliseconds. */
export interface EtcdOptions extends ClusterOptions {
  /** The prefix of every key in etcd, ending in a slash. */
  readonly prefix: string;
  /** How long an entry stays at least after its expiry before etcd collects it. */
  readonly leaseGraceMs?: number;
  /** Entries that expire within this time of each other share a lease. */
  readonly leaseBucketMs?: number;
  /** Ranges with as many keys are read in parts; 10,000 by default. */
  readonly dividedRangeKeys?: number;
  /** How long an opening tries while no member answers; ten seconds by default. */
  readonly openTimeoutMs?: number;
  /** How often an opening that gets no answer says so; every three seconds by default. */
  readonly openProgressMs?: number;
  /**
   * Receives one sentence if the version of etcd is not supported, and with each progress of an
   * opening that gets no answer: why, as far as it is known.
   */
  readonly onWarning?: (message: string) => void;
  /** Opens a partly restored store too, to restart the restore. */
  readonly allowPartial?: boolean;
  readonly metrics?: StorageMetrics;
}

/** A store in etcd. */
export interface EtcdStorage extends Storage {
  /** Reconnects with other certificates without losing calls in flight or watches. */
  renew(credentials: Credentials): void;
}

/**
 * Opens the store under a prefix of etcd. Throws UnavailableError if no member responds in time,
 * and an Error for URLs with a secret, etcd before 3.4 or a partly restored store.
 */
export async function openEtcd(options: EtcdOptions): Promise<EtcdStorage> {
  const problem = serverUrlsProblem(options.servers, () => true);
  if (problem !== undefined) throw new Error(`etcd servers: ${problem}`);
  const cluster = new Cluster(options);
  const deadline = Date.now() + (options.openTimeoutMs ?? 10_000);
  const opened = new AbortController();
  const reporting = setInterval(() => {
    void reportProgress(cluster, options, deadline, opened.signal);
  }, options.openProgressMs ?? 3000);
  try {
    const { version } = await cluster.callWithRetry(
      'status',
      (member, call) => member.maintenance.status(call),
      isTransient,
      deadline,
    );
    const warning = checkVersion(version);
    options.metrics?.storageVersionSupported.set(Number(warning === undefined));
    if (warning !== undefined) options.onWarning?.(warning);
    const [keyspace] = await Promise.all([
      readKeyspace(cluster, options.prefix, deadline),
      options.allowPartial ? undefined : assertRestoreComplete(cluster, options.prefix, deadline),
    ]);
    return createStorage(cluster, keyspace, options, ordersProgress(parseVersion(version)));
  } catch (error) {
    cluster.close();
    throw await openError(error, cluster, options);
  } finally {
    clearInterval(reporting);
    opened.abort();
  }
}

/** Says why an opening has no answer yet. */
async function reportProgress(
  cluster: Cluster,
  options: EtcdOptions,
  deadline: number,
  opened: AbortSignal,
): Promise<void> {
  const cause = await causeOfSilence(cluster, options);
  if (opened.aborted) return;
  const seconds = Math.ceil((deadline - Date.now()) / 1000);
  options.onWarning?.(
    `${cause ?? `etcd at ${options.servers.join(', ')} does not answer`}; trying for another ${seconds} s`,
  );
}

/** Returns the error of an opening, which names what gRPC does not: a wrong scheme or certificate. */
async function openError(error: unknown, cluster: Cluster, options: EtcdOptions): Promise<unknown> {
  const away = error instanceof EtcdError ? toUnavailableError(error) : error;
  const cause = away instanceof UnavailableError ? away.cause : undefined;
  if (!(cause instanceof EtcdError) || !isTransient(cause)) return away;
  const reason = await causeOfSilence(cluster, options);
  return reason === undefined ? away : new UnavailableError(reason, { cause });
}

/** Returns why etcd does not answer: what it answered last, or what is wrong with the connection. */
const causeOfSilence = async (
  { refusal }: Cluster,
  options: EtcdOptions,
): Promise<string | undefined> =>
  refusal === undefined ? findConnectionFaults(options) : refusalMessage(refusal);

/** Returns what is wrong with the URLs of etcd or its certificates; undefined if nothing is. */
async function findConnectionFaults(options: EtcdOptions): Promise<string | undefined> {
  const faults = await Promise.all(
    options.servers.map((server) => connectionFault(server, options)),
  );
  return faults.filter((fault) => fault !== undefined).join('; ') || undefined;
}

async function readKeyspace(cluster: Cluster, prefix: string, deadline: number): Promise<Keyspace> {
  const entry = await readEntry(cluster, prefix, baseKey, deadline);
  return new Keyspace(prefix, entry ? Number(entry.value.toString()) : 0);
}

async function assertRestoreComplete(
  cluster: Cluster,
  prefix: string,
  deadline: number,
): Promise<void> {
  if (await readEntry(cluster, prefix, restoringKey, deadline)) {
    throw new Error(
      `a restore below ${prefix} of etcd was interrupted: run "vestibule snapshot restore" again`,
    );
  }
}

/** Reads one entry before the base of the revisions is known. */
async function readEntry(
  cluster: Cluster,
  prefix: string,
  key: string,
  deadline: number,
): Promise<Entry | undefined> {
  const keyspace = new Keyspace(prefix, 0);
  const { kvs } = await cluster.read(
    'range',
    (member, call) => member.kv.range({ key: keyspace.toEtcdKey(key) }, call),
    deadline,
  );
  return kvs[0] && keyspace.toEntry(kvs[0]);
}

function createStorage(
  cluster: Cluster,
  keyspace: Keyspace,
  options: EtcdOptions,
  isProgressOrdered: boolean,
): EtcdStorage {
  const streams = new WatchStreams(options.servers, options);
  const reads = new ReadBatcher(cluster, keyspace);
  const leases = new Leases(
    cluster,
    options.leaseGraceMs ?? 3_600_000,
    options.leaseBucketMs ?? 300_000,
  );
  const committer = new EtcdCommitter({
    cluster,
    keyspace,
    reads,
    leases,
    metrics: options.metrics,
  });
  const watchContext: WatchContext = {
    cluster,
    keyspace,
    streams,
    currentRevision: new CurrentRevision(cluster, keyspace),
    progressKey: isProgressOrdered ? undefined : new ProgressKey(cluster, keyspace),
  };
  const closing = new AbortController();
  const listContext: ListContext = {
    cluster,
    keyspace,
    findOldest: (from) => findOldestRevision(watchContext, from, closing.signal),
    parts: new RangeParts(options.dividedRangeKeys),
  };
  return {
    async get(key) {
      validateKey(key);
      return reads.get(key);
    },
    list: (range, options = {}) => readRange(listContext, range, options),
    sizes: () => readSizes(streams),
    count: (range) => countRange(listContext, range),
    commit: (checks, writes) => committer.commit(checks, writes),
    watch: (prefix, from, signal, options) =>
      watchPrefix(watchContext, prefix, from, AbortSignal.any([signal, closing.signal]), options),
    compact: (revision) => compactTo(cluster, keyspace, revision),
    renew(credentials) {
      cluster.renew(credentials);
      streams.renew(credentials);
    },
    async close() {
      closing.abort();
      await committer.settled();
      cluster.close();
      streams.close();
    },
  };
}

/** Compacts history; an already compacted or future revision is not an error. */
async function compactTo(cluster: Cluster, keyspace: Keyspace, revision: Revision): Promise<void> {
  const etcdRevision = Math.min(
    keyspace.toEtcdRevision(revision),
    (await new CurrentRevision(cluster, keyspace).read()).revision,
  );
  if (etcdRevision <= 0) return;
  try {
    await cluster.read('compact', (member, options) =>
      member.kv.compact({ revision: etcdRevision }, options),
    );
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error;
    if (error.kind !== 'compacted') throw toUnavailableError(error);
  }
}

/**
 * Returns the oldest readable revision, which etcd reports only to a watch that starts too early.
 */
async function findOldestRevision(
  watchContext: WatchContext,
  from: Revision,
  closing: AbortSignal,
): Promise<Revision> {
  const signal = AbortSignal.any([
    closing,
    AbortSignal.timeout(watchContext.cluster.requestTimeoutMs),
  ]);
  try {
    for await (const _ of watchPrefix(watchContext, baseKey, from, signal)) break;
  } catch (error) {
    if (error instanceof CompactedError) return error.oldest;
    throw error;
  }
  return from + 1;
}
