import type { IRangeResponse } from 'etcd3';
import {
  CompactedError,
  limits,
  UnavailableError,
  type Entry,
  type ListOptions,
  type Page,
  type Range,
  type Revision,
} from '../storage.js';
import type { Cluster } from './client.js';
import { EtcdError, toUnavailableError } from './errors.js';
import type { Keyspace } from './key-prefix.js';
import type { RangeParts } from './range-parts.js';

const firstPage = 100;
const maxPage = 2000;
/** Two keys have a distance, from which the next parts are estimated. */
const minPage = 2;
const pageBytes = 2 << 20;

/** Returns the oldest revision that etcd still has, for an error message. */
type FindOldest = (from: Revision) => Promise<Revision>;

interface ListContext {
  readonly cluster: Cluster;
  readonly keyspace: Keyspace;
  readonly findOldest: FindOldest;
  readonly parts: RangeParts;
}

/** Reads a range at one revision, in requests of limited count and bytes. */
export async function readRange(
  context: ListContext,
  range: Range,
  { limit = Infinity, at: atRevision, ahead = limits.more }: ListOptions,
): Promise<Page> {
  const { keyspace } = context;
  if (atRevision !== undefined && keyspace.toEtcdRevision(atRevision) <= 0)
    throw new CompactedError(keyspace.fromEtcdRevision(1));
  const parts = context.parts.reader(range);
  const request = async (start: string, wanted: number, page: number) => {
    const end = parts.endAfter(start, wanted);
    const response = await requestPage(context, { start, end }, page, revision);
    revision ??= keyspace.fromEtcdRevision(response.header.revision);
    const read = response.kvs.map((kv) => keyspace.toEntry(kv));
    const count = Number(response.count);
    parts.note(read, count);
    return { end, read, count, nextPage: nextPage(response, page) };
  };
  const entries: Entry[] = [];
  let revision = atRevision;
  let { start } = range;
  let page = Math.max(minPage, Math.min(firstPage, limit));
  let more = 0;
  do {
    const part = await request(start, page + ahead, page);
    const taken = part.read.slice(0, limit - entries.length);
    entries.push(...taken);
    more = part.count - taken.length;
    start = more > 0 && entries.length < limit ? `${entries.at(-1)!.key}!` : part.end;
    page = Math.max(minPage, Math.min(part.nextPage, limit - entries.length));
  } while (entries.length < limit && start < range.end);
  while (more < ahead && start < range.end) {
    const part = await request(start, ahead, minPage);
    more += part.count;
    start = part.end;
  }
  return { entries, revision: revision!, more: Math.min(more, ahead) };
}

/** Returns how many entries of the size just read fit into one request; `page` if none was read. */
function nextPage({ kvs }: IRangeResponse, page: number): number {
  if (kvs.length === 0) return page;
  const bytes = kvs.reduce((sum, { key, value }) => sum + key.length + value.length + 32, 0);
  return Math.max(1, Math.min(maxPage, Math.floor(pageBytes / (bytes / kvs.length))));
}

/** Sends one request. Halves the page if the response is too large or too late. */
async function requestPage(
  context: ListContext,
  range: Range,
  page: number,
  atRevision: Revision | undefined,
): Promise<IRangeResponse> {
  const { cluster, keyspace } = context;
  const revision = atRevision === undefined ? 0 : keyspace.toEtcdRevision(atRevision);
  const request = {
    key: keyspace.toEtcdKey(range.start),
    range_end: keyspace.toEtcdKey(range.end),
    revision,
  };
  let attemptCount = 0;
  try {
    return await cluster.read('range', (member, options) => {
      const limit = Math.ceil(page / 2 ** attemptCount);
      attemptCount += 1;
      return member.kv.range({ ...request, limit }, options);
    });
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error;
    if (error.kind === 'oversize' && page > 1)
      return requestPage(context, range, Math.ceil(page / 2), atRevision);
    if (error.kind === 'compacted') throw new CompactedError(await context.findOldest(atRevision!));
    if (error.kind === 'future')
      throw new UnavailableError(`revision ${atRevision} is not reached yet`, { cause: error });
    throw toUnavailableError(error);
  }
}

/** Counts the current keys of a range in etcd. */
export async function countRange(
  cluster: Cluster,
  keyspace: Keyspace,
  range: Range,
): Promise<number> {
  const request = {
    key: keyspace.toEtcdKey(range.start),
    range_end: keyspace.toEtcdKey(range.end),
    count_only: true,
  };
  return Number(
    (await cluster.read('range', (member, options) => member.kv.range(request, options))).count,
  );
}
