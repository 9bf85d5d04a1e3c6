import { setTimeout as pause } from 'node:timers/promises';
import { CompactedError, prefixRange, type Batch, type Change, type Revision } from '../storage.js';
import type { Cluster } from './client.js';
import { EtcdError } from './errors.js';
import type { Keyspace } from './key-prefix.js';
import type { CurrentRevision } from './linearizable-revision.js';
import { markKey, type ProgressKey } from './progress-key.js';
import { WatchProgress } from './watch-progress.js';
import type { Streams, EtcdWatchEvent, WatchResponse, EtcdWatchStream } from './watch-stream.js';

const pauseTime = 100;

/** What a watch is made of. */
export interface Watching {
  readonly cluster: Cluster;
  readonly keyspace: Keyspace;
  readonly streams: Streams;
  readonly latest: CurrentRevision;
  /** Present where an answer about progress may overtake events. */
  readonly marker: ProgressKey | undefined;
}

/**
 * Every change under `prefix` after `from`, across as many streams as it takes; resumes after the
 * last revision handed on.
 */
export async function* watchPrefix(
  watching: Watching,
  prefix: string,
  from: Revision,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  const { keyspace, streams } = watching;
  if (keyspace.inward(from) <= 0) throw new CompactedError(keyspace.outward(1));
  let at = from;
  while (!signal.aborted) {
    try {
      for await (const batch of readStream(watching, prefix, at, signal)) {
        at = batch.revision;
        yield batch;
      }
      if (signal.aborted) return;
    } catch (error) {
      if (error instanceof CompactedError || error instanceof TypeError) throw error;
    }
    streams.rotate();
    if (!signal.aborted) await pause(pauseTime, undefined, { signal }).catch(() => undefined);
  }
}

/** One stream, until it ends or fails. */
async function* readStream(
  watching: Watching,
  prefix: string,
  from: Revision,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  const { cluster, keyspace, streams, marker } = watching;
  const latest = await watching.latest.read();
  if (signal.aborted) return;
  const position = keyspace.inward(from);
  const stream = streams.open();
  const cancel = (): void => {
    stream.cancel();
  };
  const progress = new WatchProgress(
    stream,
    { position, latest },
    {
      mark:
        marker &&
        (() => {
          marker.mark();
        }),
      confirm: () => watching.latest.ask(),
      lost: cancel,
    },
  );
  const seen = (revision: number, asked: number): void => {
    progress.seen(revision, asked);
  };
  signal.addEventListener('abort', cancel);
  cluster.onAnswer.add(seen);
  try {
    ask(stream, keyspace, marker ? '' : prefix, startOf(position, latest.revision));
    if (latest.revision === position) yield { revision: from, changes: [], asOf: progress.asOf() };
    if (signal.aborted) return;
    yield* batchesOf(stream, progress, keyspace, { prefix, from, signal });
  } finally {
    progress.stop();
    cluster.onAnswer.delete(seen);
    signal.removeEventListener('abort', cancel);
    stream.on('error', () => undefined);
    stream.cancel();
  }
}

/**
 * Where etcd is to begin: behind `from` when that is the latest, else at `from` itself, because
 * etcd refuses a start before its compaction and `from` has to be readable for the values before of
 * what follows.
 */
const startOf = (from: number, latest: number): number => (from >= latest ? from + 1 : from);

function ask(stream: EtcdWatchStream, keyspace: Keyspace, prefix: string, start: number): void {
  const { start: first, end } = prefixRange(keyspace.prefix + prefix);
  const range = { key: Buffer.from(first, 'latin1'), range_end: Buffer.from(end, 'latin1') };
  stream.write({
    create_request: { ...range, start_revision: start, prev_kv: true, fragment: true },
  });
}

/** What a stream brings, until it ends or the signal is aborted while a batch is taken. */
async function* batchesOf(
  stream: EtcdWatchStream,
  progress: WatchProgress,
  keyspace: Keyspace,
  { prefix, from, signal }: { prefix: string; from: Revision; signal: AbortSignal },
): AsyncGenerator<Batch> {
  let at = from;
  let events: EtcdWatchEvent[] = [];
  for await (const response of stream as AsyncIterable<WatchResponse>) {
    refuseCancelled(response, keyspace);
    if (response.created) continue;
    for (const event of response.events) events.push(event);
    if (response.fragment) continue;
    for (const batch of wholeRevisions(events, keyspace, prefix, at)) {
      at = batch.revision;
      progress.events(keyspace.inward(at));
      yield { ...batch, asOf: progress.asOf() };
      if (signal.aborted) return;
    }
    if (events.length > 0) {
      events = [];
      continue;
    }
    const reached = progress.answer(Number(response.header.revision));
    if (reached !== undefined) at = Math.max(at, keyspace.outward(reached));
    yield { revision: at, changes: [], asOf: progress.asOf() };
    if (signal.aborted) return;
  }
}

function refuseCancelled(
  { canceled, compact_revision, cancel_reason }: WatchResponse,
  keyspace: Keyspace,
): void {
  if (!canceled) return;
  if (Number(compact_revision) > 0) throw new CompactedError(keyspace.outward(compact_revision));
  throw new EtcdError('unknown', cancel_reason || 'etcd ended the watch');
}

/**
 * What is new in these events, a batch a revision; empty where all of it lies outside of the
 * prefix.
 */
function* wholeRevisions(
  events: readonly EtcdWatchEvent[],
  keyspace: Keyspace,
  prefix: string,
  at: Revision,
): Generator<Batch> {
  for (let i = 0; i < events.length; ) {
    const revision = keyspace.outward(events[i]!.kv.mod_revision);
    const changes: Change[] = [];
    for (; i < events.length && keyspace.outward(events[i]!.kv.mod_revision) === revision; i++) {
      if (revision > at && isTold(keyspace.name(events[i]!.kv.key), prefix))
        changes.push(changeOf(events[i]!, keyspace));
    }
    if (revision > at) yield { revision, changes };
  }
}

const isTold = (name: string, prefix: string): boolean =>
  name !== markKey && name.startsWith(prefix);

function changeOf({ type, kv, prev_kv }: EtcdWatchEvent, keyspace: Keyspace): Change {
  const created = type === 'Put' && kv.create_revision === kv.mod_revision;
  if (!prev_kv && !created) throw new CompactedError(keyspace.outward(kv.mod_revision));
  const entry = type === 'Put' ? keyspace.entry(kv) : undefined;
  return {
    key: keyspace.name(kv.key),
    ...(entry && { entry }),
    ...(prev_kv && { before: keyspace.entry(prev_kv) }),
  };
}
