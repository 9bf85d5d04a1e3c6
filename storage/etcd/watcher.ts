import { setTimeout as pause } from 'node:timers/promises';
import {
  type Batch,
  type Change,
  CompactedError,
  prefixRange,
  type Revision,
  type WatchOptions,
} from '../storage.js';
import type { Cluster } from './client.js';
import { EtcdError } from './errors.js';
import type { Keyspace } from './key-prefix.js';
import type { CurrentRevision } from './linearizable-revision.js';
import { markKey, type ProgressKey } from './progress-key.js';
import { WatchProgress } from './watch-progress.js';
import type {
  EtcdWatchEvent,
  EtcdWatchStream,
  WatchResponse,
  WatchStreams,
} from './watch-stream.js';

const retryDelayMs = 100;
/** How old a watch's last confirmation may be, of one for new values only and of another. */
const maxStalenessMs = { newValuesOnly: 2000, all: 500 } as const;

/** Dependencies of a watch. */
export interface WatchContext {
  readonly cluster: Cluster;
  readonly keyspace: Keyspace;
  readonly streams: WatchStreams;
  readonly currentRevision: CurrentRevision;
  /** Set if progress responses may overtake events. */
  readonly progressKey: ProgressKey | undefined;
}

/**
 * Yields every change under `prefix` after `from`, over as many streams as needed. Resumes after
 * the last revision yielded.
 */
export async function* watchPrefix(
  context: WatchContext,
  prefix: string,
  from: Revision,
  signal: AbortSignal,
  options: WatchOptions = {},
): AsyncGenerator<Batch> {
  const { keyspace, streams } = context;
  if (keyspace.toEtcdRevision(from) <= 0) throw new CompactedError(keyspace.fromEtcdRevision(1));
  let lastRevision = from;
  while (!signal.aborted) {
    try {
      for await (const batch of readStream(context, prefix, lastRevision, signal, options)) {
        lastRevision = batch.revision;
        yield batch;
      }
      if (signal.aborted) return;
    } catch (error) {
      if (error instanceof CompactedError || error instanceof TypeError) throw error;
    }
    streams.rotate();
    if (!signal.aborted) await pause(retryDelayMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Reads one stream until it ends or fails. */
async function* readStream(
  context: WatchContext,
  prefix: string,
  from: Revision,
  signal: AbortSignal,
  { newValuesOnly = false }: WatchOptions,
): AsyncGenerator<Batch> {
  const { cluster, keyspace, streams, progressKey } = context;
  const currentRevision = await context.currentRevision.read();
  if (signal.aborted) return;
  const position = keyspace.toEtcdRevision(from);
  const stream = streams.open();
  const cancel = (): void => {
    stream.cancel();
  };
  const progress = new WatchProgress(
    stream,
    { position, latest: currentRevision },
    maxStalenessMs[newValuesOnly ? 'newValuesOnly' : 'all'],
    {
      writeProgressKey:
        progressKey &&
        (() => {
          progressKey.write();
        }),
      readRevision: () => context.currentRevision.refresh(),
      onStalled: cancel,
    },
  );
  const onRevision = (revision: number, requestedAt: number): void => {
    progress.onRevision(revision, requestedAt);
  };
  signal.addEventListener('abort', cancel);
  cluster.revisionListeners.add(onRevision);
  try {
    createWatch(stream, keyspace, {
      prefix: progressKey ? '' : prefix,
      start: startRevision(position, currentRevision.revision),
      prev_kv: !newValuesOnly,
    });
    if (currentRevision.revision === position) {
      yield { revision: from, changes: [], asOf: progress.asOf() };
    }
    if (signal.aborted) return;
    yield* readBatches(stream, progress, keyspace, { prefix, from, signal, newValuesOnly });
  } finally {
    progress.stop();
    cluster.revisionListeners.delete(onRevision);
    signal.removeEventListener('abort', cancel);
    stream.on('error', () => undefined);
    stream.cancel();
  }
}

/**
 * Returns the first revision of the etcd watch: after `from` if that is the latest, else `from`
 * itself. etcd refuses a start before its compaction, and the values before the following changes
 * need `from` to be readable.
 */
const startRevision = (from: number, currentRevision: number): number =>
  from >= currentRevision ? from + 1 : from;

function createWatch(
  stream: EtcdWatchStream,
  keyspace: Keyspace,
  { prefix, start, prev_kv }: { prefix: string; start: number; prev_kv: boolean },
): void {
  const { start: rangeStart, end } = prefixRange(keyspace.prefix + prefix);
  const range = { key: Buffer.from(rangeStart, 'latin1'), range_end: Buffer.from(end, 'latin1') };
  stream.write({
    create_request: { ...range, start_revision: start, prev_kv, fragment: true },
  });
}

/** What a watch has asked for. */
interface WatchRequest {
  readonly prefix: string;
  readonly from: Revision;
  readonly signal: AbortSignal;
  readonly newValuesOnly: boolean;
}

/**
 * Yields batches until the stream ends, or the signal is aborted while the consumer has a batch.
 */
async function* readBatches(
  stream: EtcdWatchStream,
  progress: WatchProgress,
  keyspace: Keyspace,
  watch: WatchRequest,
): AsyncGenerator<Batch> {
  const { from, signal } = watch;
  let lastRevision = from;
  let events: EtcdWatchEvent[] = [];
  for await (const response of stream as AsyncIterable<WatchResponse>) {
    throwIfCanceled(response, keyspace);
    if (response.created) continue;
    for (const event of response.events) events.push(event);
    if (response.fragment) continue;
    for (const batch of groupByRevision(events, keyspace, watch, lastRevision)) {
      lastRevision = batch.revision;
      progress.onEvents(keyspace.toEtcdRevision(lastRevision));
      yield { ...batch, asOf: progress.asOf() };
      if (signal.aborted) return;
    }
    if (events.length > 0) {
      events = [];
      continue;
    }
    const progressRevision = progress.onProgressResponse(Number(response.header.revision));
    if (progressRevision !== undefined) {
      lastRevision = Math.max(lastRevision, keyspace.fromEtcdRevision(progressRevision));
    }
    yield { revision: lastRevision, changes: [], asOf: progress.asOf() };
    if (signal.aborted) return;
  }
}

function throwIfCanceled(
  { canceled, compact_revision, cancel_reason }: WatchResponse,
  keyspace: Keyspace,
): void {
  if (!canceled) return;
  if (Number(compact_revision) > 0) {
    throw new CompactedError(keyspace.fromEtcdRevision(compact_revision));
  }
  throw new EtcdError('unknown', cancel_reason || 'etcd ended the watch');
}

/** Groups new events by revision; a batch is empty if none of its events is under the prefix. */
function* groupByRevision(
  events: readonly EtcdWatchEvent[],
  keyspace: Keyspace,
  { prefix, newValuesOnly }: WatchRequest,
  lastRevision: Revision,
): Generator<Batch> {
  for (let i = 0; i < events.length; ) {
    const revision = keyspace.fromEtcdRevision(events[i]!.kv.mod_revision);
    const changes: Change[] = [];
    for (
      ;
      i < events.length && keyspace.fromEtcdRevision(events[i]!.kv.mod_revision) === revision;
      i++
    ) {
      if (revision > lastRevision && isWatched(keyspace.fromEtcdKey(events[i]!.kv.key), prefix)) {
        changes.push(toChange(events[i]!, keyspace, newValuesOnly));
      }
    }
    if (revision > lastRevision) yield { revision, changes };
  }
}

const isWatched = (name: string, prefix: string): boolean =>
  name !== markKey && name.startsWith(prefix);

function toChange(
  { type, kv, prev_kv }: EtcdWatchEvent,
  keyspace: Keyspace,
  newValuesOnly: boolean,
): Change {
  const created = type === 'Put' && kv.create_revision === kv.mod_revision;
  if (!prev_kv && !created && !newValuesOnly) {
    throw new CompactedError(keyspace.fromEtcdRevision(kv.mod_revision));
  }
  const entry = type === 'Put' ? keyspace.toEntry(kv) : undefined;
  return {
    key: keyspace.fromEtcdKey(kv.key),
    ...(entry && { entry }),
    ...(prev_kv && { before: keyspace.toEntry(prev_kv) }),
  };
}
