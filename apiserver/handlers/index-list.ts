import { type EncodedObject, objectKey } from '../../registry/encoded-object.js';
import type { AnyKind } from '../../registry/kind.js';
import { badRequest, unavailable } from '../../registry/status/status.js';
import {
  indexRows,
  nameOfRow,
  orderRange,
  searchRange,
} from '../../registry/store/lifecycle/index-rows.js';
import type { Indexes } from '../../registry/store/replicas/indexes.js';
import {
  type Entry,
  type ListOptions,
  type Page,
  type Range,
  type Revision,
  startAfter,
} from '../../storage/storage.js';
import type { Selector } from '../codec/selectors.js';
import type { ResourceRequestInfo } from '../request/request-info.js';

/** A page of a list that is read from an index, up to the row `last`. */
interface IndexPage {
  readonly entries: readonly EncodedObject[];
  readonly last: string | undefined;
  readonly revision: Revision;
  readonly hasMore: boolean;
}

/** The rows that a page is read from. */
export interface IndexRows {
  /** Those from which on the page is read, and those of all of the list. */
  readonly from: Range;
  readonly all: Range;
  readonly at: Revision | undefined;
}

/** How rows and objects are read, and which of these are selected. */
interface IndexSource {
  read(range: Range, options: ListOptions): Promise<Page>;
  select(entry: Entry): EncodedObject | undefined;
}

/** Rows that are read at once. */
const maxRows = 500;

/**
 * Returns the rows of the index that a list is read from: those of `orderBy`, or of the field selector
 * `search`; undefined for another list, and for a search among what one may see. Throws 400 for an order
 * that there is not, and 503 while rows are missing.
 */
export function indexRangeOf(
  { kind, query, view }: ResourceRequestInfo,
  { search }: Selector,
  canSeeAll: boolean,
  indexes: Indexes,
): Range | undefined {
  const asked = query.get('orderBy');
  if (asked === undefined && search === undefined) return undefined;
  const known = Object.keys(kind.orders);
  const field = asked === undefined ? undefined : (view.names?.hubPath(asked) ?? asked);
  if (field !== undefined && !known.includes(field)) {
    const paths = view.names?.paths(known) ?? known;
    throw badRequest(
      known.length === 0
        ? `${kind.resource} have no order but that of their names`
        : `orderBy must be one of ${paths.join(', ')}`,
    );
  }
  if (!canSeeAll && field === undefined) return undefined;
  if (!canSeeAll) throw badRequest('orderBy is for those who may list all objects');
  if (field !== undefined && search !== undefined) {
    throw badRequest('orderBy is not for a search, which has the order of what it finds');
  }
  if (!indexes.isComplete(kind)) {
    throw unavailable(`the index of ${kind.resource} is being completed`);
  }
  return field === undefined ? searchRange(kind, search!) : orderRange(kind, field);
}

/** Reads objects in the order of an index until there are `limit` and one more, or its rows end. */
export async function readIndexPage(
  kind: AnyKind,
  { from, all, at }: IndexRows,
  { read, select }: IndexSource,
  limit: number,
): Promise<IndexPage> {
  const entries: EncodedObject[] = [];
  let last: string | undefined;
  for (let range = from, revision = at; ; ) {
    const page = await read(range, {
      limit: Math.min(limit - entries.length + 1, maxRows),
      ahead: 1,
      ...(revision !== undefined && { at: revision }),
    });
    revision = page.revision;
    const readEntry = (row: Entry): Promise<Entry | undefined> =>
      entryOf(kind, row, (exact) => read(exact, { limit: 1, ahead: 0, at: page.revision }));
    const found = await Promise.all(page.entries.map(readEntry));
    for (const [i, { key }] of page.entries.entries()) {
      const object = found[i] && select(found[i]);
      if (!object || !isFirstRow(kind, object, key, all)) continue;
      if (entries.length === limit) return { entries, last, revision, hasMore: true };
      entries.push(object);
      last = key;
    }
    if (page.more === 0) return { entries, last, revision, hasMore: false };
    range = { start: startAfter(page.entries), end: range.end };
  }
}

/** Reads the object that a row leads to, at the revision of the row. */
async function entryOf(
  kind: AnyKind,
  row: Entry,
  read: (range: Range) => Promise<Page>,
): Promise<Entry | undefined> {
  const start = objectKey(kind, nameOfRow(row.key));
  return (await read({ start, end: `${start}!` })).entries[0];
}

/** Whether a row is the first one of its object in a range: a search finds some by several words. */
const isFirstRow = (
  kind: AnyKind,
  { object }: EncodedObject,
  row: string,
  { start, end }: Range,
): boolean => indexRows(kind, object).find((key) => key >= start && key < end) === row;
