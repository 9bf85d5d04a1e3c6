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
import { EtcdError, unavailable } from './errors.js';
import type { Keyspace } from './key-prefix.js';

const firstPage = 100;
const largestPage = 2000;
const pageBytes = 2 << 20;

/** Finds the oldest revision etcd still has, for a message. */
type FindOldest = (from: Revision) => Promise<Revision>;

interface Place {
  readonly cluster: Cluster;
  readonly keyspace: Keyspace;
  readonly findOldest: FindOldest;
}

/** Reads a range at one revision, in requests bounded by number and by bytes. */
export async function readRange(
  place: Place,
  range: Range,
  { limit = Infinity, at, ahead = limits.more }: ListOptions,
): Promise<Page> {
  const { keyspace } = place;
  if (at !== undefined && keyspace.inward(at) <= 0) throw new CompactedError(keyspace.outward(1));
  const entries: Entry[] = [];
  let revision = at;
  let { start } = range;
  for (let page = Math.min(firstPage, limit); ; ) {
    const answer = await requestPage(place, { start, end: range.end }, page, revision);
    revision ??= keyspace.outward(answer.header.revision);
    for (const kv of answer.kvs) entries.push(keyspace.entry(kv));
    const following = Number(answer.count) - answer.kvs.length;
    if (following === 0 || entries.length >= limit)
      return { entries, revision, more: Math.min(following, ahead) };
    start = `${entries.at(-1)!.key}!`;
    page = Math.min(nextPage(answer), limit - entries.length);
  }
}

/** As many as fit into a request's bytes if they are like the ones just read. */
function nextPage({ kvs }: IRangeResponse): number {
  const bytes = kvs.reduce((sum, { key, value }) => sum + key.length + value.length + 32, 0);
  return Math.max(1, Math.min(largestPage, Math.floor(pageBytes / (bytes / kvs.length))));
}

/**
 * One request; when its answer would be over the largest message, or does not come in time, half of
 * it.
 */
async function requestPage(
  place: Place,
  range: Range,
  page: number,
  at: Revision | undefined,
): Promise<IRangeResponse> {
  const { cluster, keyspace } = place;
  const revision = at === undefined ? 0 : keyspace.inward(at);
  const request = { key: keyspace.key(range.start), range_end: keyspace.key(range.end), revision };
  let tries = 0;
  try {
    return await cluster.read('range', (member, options) => {
      const limit = Math.ceil(page / 2 ** tries);
      tries += 1;
      return member.kv.range({ ...request, limit }, options);
    });
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error;
    if (error.kind === 'oversize' && page > 1)
      return requestPage(place, range, Math.ceil(page / 2), at);
    if (error.kind === 'compacted') throw new CompactedError(await place.findOldest(at!));
    if (error.kind === 'future')
      throw new UnavailableError(`revision ${at} is not reached yet`, { cause: error });
    throw unavailable(error);
  }
}

/** How many keys a range has now, counted by etcd. */
export async function countRange(
  cluster: Cluster,
  keyspace: Keyspace,
  range: Range,
): Promise<number> {
  const request = {
    key: keyspace.key(range.start),
    range_end: keyspace.key(range.end),
    count_only: true,
  };
  return Number(
    (await cluster.read('range', (member, options) => member.kv.range(request, options))).count,
  );
}
