import type { IRangeResponse } from 'etcd3';
import {
  CompactedError,
  type Entry,
  type ListOptions,
  limits,
  type Page,
  type Range,
  type Revision,
  startAfter,
  UnavailableError,
} from '../storage.js';
import type { Cluster } from './client.js';
import { EtcdError, toUnavailableError } from './errors.js';
import type { Keyspace } from './key-prefix.js';
import type { PartReader, RangeParts } from './range-parts.js';

const firstPage = 100;
const maxPage = 2000;
/** Two keys have a distance, from which the next parts are estimated. */
const minPage = 2;
const pageBytes = 2 << 20;
/** How long etcd may take to count a range that may be large, the first time: some million keys. */
const largeRangeMs = 10_000;
/** A part that only counts what follows wants no fewer keys: many gaps are wider than a few keys. */
const minCounted = 100;
/** About how many keys are counted at once, if the range is large. */
const countedPart = 10_000;

/** Returns the oldest revision that etcd still has, for an error message. */
type FindOldest = (from: Revision) => Promise<Revision>;

export interface ListContext {
  readonly cluster: Cluster;
  readonly keyspace: Keyspace;
  readonly findOldest: FindOldest;
  readonly parts: RangeParts;
}

/** A part of a range that was read: its end, its first entries and how many keys it has. */
interface Part {
  readonly end: string;
  readonly read: readonly Entry[];
  readonly count: number;
  /** How many entries of the size just read fit into one request. */
  readonly nextPage: number;
}

/** Reads the parts of a range at one revision. */
class RangeReader {
  readonly #context: ListContext;
  readonly #parts: PartReader;
  revision: Revision | undefined;

  constructor(context: ListContext, range: Range, revision?: Revision) {
    this.#context = context;
    this.#parts = context.parts.reader(range);
    this.revision = revision;
  }

  /** Reads up to `page` entries of a part with about `wanted` keys or more. */
  async part(start: string, wanted: number, page: number): Promise<Part> {
    const { keyspace } = this.#context;
    const end = this.#parts.endAfter(start, wanted);
    const patienceMs = this.#parts.isDivided ? undefined : largeRangeMs;
    const range = { start, end, patienceMs };
    const response = await requestPage(this.#context, range, page, this.revision);
    this.revision ??= keyspace.fromEtcdRevision(response.header.revision);
    const read = response.kvs.map((kv) => keyspace.toEntry(kv));
    const count = Number(response.count);
    this.#parts.note(range, read, count);
    return { end, read, count, nextPage: nextPage(response, page) };
  }
}

/** Reads a range at one revision, in requests of limited count and bytes. */
export async function readRange(
  context: ListContext,
  range: Range,
  { limit = Infinity, at, ahead = limits.more }: ListOptions,
): Promise<Page> {
  const { keyspace } = context;
  if (at !== undefined && keyspace.toEtcdRevision(at) <= 0) {
    throw new CompactedError(keyspace.fromEtcdRevision(1));
  }
  const reader = new RangeReader(context, range, at);
  const entries: Entry[] = [];
  let { start } = range;
  let page = Math.max(minPage, Math.min(firstPage, limit));
  let more = 0;
  do {
    const part = await reader.part(start, page + ahead, page);
    const taken = part.read.slice(0, limit - entries.length);
    entries.push(...taken);
    more = part.count - taken.length;
    start = more > 0 && entries.length < limit ? startAfter(entries) : part.end;
    page = Math.max(minPage, Math.min(part.nextPage, limit - entries.length));
  } while (entries.length < limit && start < range.end);
  while (more < ahead && start < range.end) {
    const part = await reader.part(start, Math.max(minCounted, ahead - more), minPage);
    more += part.count;
    start = part.end;
  }
  return { entries, revision: reader.revision!, more: Math.min(more, ahead) };
}

/** Counts the current keys of a range in etcd, at one revision. */
export async function countRange(context: ListContext, range: Range): Promise<number> {
  const reader = new RangeReader(context, range);
  let count = 0;
  for (let { start } = range; start < range.end; ) {
    const part = await reader.part(start, countedPart, minPage);
    count += part.count;
    start = part.end;
  }
  return count;
}

/** Returns how many entries of the size just read fit into one request; `page` if none was read. */
function nextPage({ kvs }: IRangeResponse, page: number): number {
  if (kvs.length === 0) return page;
  const bytes = kvs.reduce((sum, { key, value }) => sum + key.length + value.length + 32, 0);
  return Math.max(1, Math.min(maxPage, Math.floor(pageBytes / (bytes / kvs.length))));
}

/** A range, and how long etcd may take to count it once it answered to less; milliseconds. */
interface PatientRange extends Range {
  readonly patienceMs: number | undefined;
}

/** Sends one request. Halves the page if the response is too large or too late. */
async function requestPage(
  context: ListContext,
  range: PatientRange,
  page: number,
  atRevision: Revision | undefined,
): Promise<IRangeResponse> {
  const { cluster, keyspace } = context;
  const { patienceMs } = range;
  const key = keyspace.toEtcdKey(range.start);
  const range_end = keyspace.toEtcdKey(range.end);
  const revision = atRevision === undefined ? 0 : keyspace.toEtcdRevision(atRevision);
  let attempts = 0;
  try {
    return await cluster.read('range', async ({ kv }, options) => {
      const limit = Math.max(Math.min(page, minPage), Math.ceil(page / 2 ** attempts));
      const request = { key, range_end, limit, revision };
      attempts += 1;
      if (attempts === 1 || patienceMs === undefined) return kv.range(request, options);
      await kv.range({ key }, options);
      return kv.range(request, { deadline: Date.now() + patienceMs });
    });
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error;
    if (error.kind === 'oversize' && page > 1) {
      return requestPage(context, range, Math.ceil(page / 2), atRevision);
    }
    if (error.kind === 'compacted') throw new CompactedError(await context.findOldest(atRevision!));
    if (error.kind === 'future') {
      throw new UnavailableError(`revision ${atRevision} is not reached yet`, { cause: error });
    }
    throw toUnavailableError(error);
  }
}
