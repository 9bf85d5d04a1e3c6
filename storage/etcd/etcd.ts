import { validateKey } from '../limits.js';
import { baseKey, restoringKey } from '../snapshot/layout.js';
import {
  CompactedError,
  type Entry,
  type Revision,
  type Storage,
  type StorageMetrics,
} from '../storage.js';
import { Cluster, requestTimeoutMs, type ClusterOptions, type Credentials } from './client.js';
import { EtcdCommitter } from './committer.js';
import { EtcdError, isTransient, unavailable } from './errors.js';
import { Keyspace } from './key-prefix.js';
import { Leases } from './leases.js';
import { countRange, readRange } from './lister.js';
import { CurrentRevision } from './linearizable-revision.js';
import { ProgressKey } from './progress-key.js';
import { ReadBatcher } from './read-batcher.js';
import { sizesOf } from './db-size.js';
import { Streams } from './watch-stream.js';
import { checkVersion, ordersProgress, parseVersion } from './version.js';
import { watchPrefix, type Watching } from './watcher.js';

/** How a store in etcd is opened; times in milliseconds. */
export interface EtcdOptions extends ClusterOptions {
  /** What every key in etcd begins with; end it with a slash. */
  readonly prefix: string;
  /** How long an entry stays at least after its expiry before etcd collects it. */
  readonly leaseGrace?: number;
  /** Entries that expire within so long of each other share a lease. */
  readonly leaseWidth?: number;
  /** Told one sentence when this etcd is known to be faulty. */
  readonly onWarning?: (message: string) => void;
  /** Opens also what was restored in part, to begin again. */
  readonly restoring?: boolean;
  readonly metrics?: StorageMetrics;
}

/** A store in etcd. */
export interface EtcdStorage extends Storage {
  /** Connects again with other certificates; nothing that is under way is lost, and no watch. */
  renew(credentials: Credentials): void;
}

/**
 * Opens the store below a prefix of etcd; throws Unavailable when no member answers, and refuses an
 * etcd before 3.4 and a store that was restored in part.
 */
export async function openEtcd(options: EtcdOptions): Promise<EtcdStorage> {
  const cluster = new Cluster(options);
  try {
    const { version } = await cluster.insist(
      'status',
      (member, call) => member.maintenance.status(call),
      isTransient,
    );
    const warning = checkVersion(version);
    options.metrics?.storageVersionSupported.set(Number(warning === undefined));
    if (warning !== undefined) options.onWarning?.(warning);
    const [keyspace] = await Promise.all([
      keyspaceOf(cluster, options.prefix),
      options.restoring ? undefined : refuseHalfRestored(cluster, options.prefix),
    ]);
    return assemble(cluster, keyspace, options, ordersProgress(parseVersion(version)));
  } catch (error) {
    cluster.close();
    throw error instanceof EtcdError ? unavailable(error) : error;
  }
}

async function keyspaceOf(cluster: Cluster, prefix: string): Promise<Keyspace> {
  const entry = await readFirst(cluster, prefix, baseKey);
  return new Keyspace(prefix, entry ? Number(entry.value.toString()) : 0);
}

async function refuseHalfRestored(cluster: Cluster, prefix: string): Promise<void> {
  if (await readFirst(cluster, prefix, restoringKey))
    throw new Error(
      `a restore below ${prefix} of etcd has not come to its end: run "vestibule snapshot restore" again`,
    );
}

/** What stands under one key, before it is known which revision that is. */
async function readFirst(
  cluster: Cluster,
  prefix: string,
  key: string,
): Promise<Entry | undefined> {
  const keyspace = new Keyspace(prefix, 0);
  const { kvs } = await cluster.read('range', (member, call) =>
    member.kv.range({ key: keyspace.key(key) }, call),
  );
  return kvs[0] && keyspace.entry(kvs[0]);
}

function assemble(
  cluster: Cluster,
  keyspace: Keyspace,
  options: EtcdOptions,
  ordered: boolean,
): EtcdStorage {
  const streams = new Streams(options.servers, options);
  const reads = new ReadBatcher(cluster, keyspace);
  const leases = new Leases(
    cluster,
    options.leaseGrace ?? 3_600_000,
    options.leaseWidth ?? 300_000,
  );
  const committer = new EtcdCommitter({
    cluster,
    keyspace,
    reads,
    leases,
    metrics: options.metrics,
  });
  const watching: Watching = {
    cluster,
    keyspace,
    streams,
    latest: new CurrentRevision(cluster, keyspace),
    marker: ordered ? undefined : new ProgressKey(cluster, keyspace),
  };
  const ending = new AbortController();
  const findOldest = (from: Revision): Promise<Revision> =>
    oldestAfter(watching, from, ending.signal);
  return {
    async get(key) {
      validateKey(key);
      return reads.get(key);
    },
    list: (range, options = {}) => readRange({ cluster, keyspace, findOldest }, range, options),
    sizes: () => sizesOf(streams),
    count: (range) => countRange(cluster, keyspace, range),
    commit: (checks, writes) => committer.commit(checks, writes),
    watch: (prefix, from, signal) =>
      watchPrefix(watching, prefix, from, AbortSignal.any([signal, ending.signal])),
    compact: (revision) => compactTo(cluster, keyspace, revision),
    renew(credentials) {
      cluster.renew(credentials);
      streams.renew(credentials);
    },
    async close() {
      ending.abort();
      await committer.settled();
      cluster.close();
      streams.close();
    },
  };
}

/** Forgets history; what is compacted already, or not reached yet, is no error. */
async function compactTo(cluster: Cluster, keyspace: Keyspace, revision: Revision): Promise<void> {
  const inward = Math.min(
    keyspace.inward(revision),
    (await new CurrentRevision(cluster, keyspace).read()).revision,
  );
  if (inward <= 0) return;
  try {
    await cluster.read('compact', (member, options) =>
      member.kv.compact({ revision: inward }, options),
    );
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error;
    if (error.kind !== 'compacted') throw unavailable(error);
  }
}

/** The oldest readable revision, which etcd names only to a watch that begins too early. */
async function oldestAfter(
  watching: Watching,
  from: Revision,
  closing: AbortSignal,
): Promise<Revision> {
  const signal = AbortSignal.any([closing, AbortSignal.timeout(requestTimeoutMs)]);
  try {
    for await (const _ of watchPrefix(watching, 'meta/base', from, signal)) break;
  } catch (error) {
    if (error instanceof CompactedError) return error.oldest;
    throw error;
  }
  return from + 1;
}
