import { type EncodedObject, objectKey } from '../../registry/encoded-object.js';
import type { AnyKind } from '../../registry/kind.js';
import { badRequest, unavailable } from '../../registry/status/status.js';
import {
  indexRows,
  nameOfRow,
  orderPart,
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
  /** The owner of the objects, if they have one: the others are not read. */
  readonly owner?: string | undefined;
}

/** How rows and objects are read, and which of these are selected. */
interface IndexSource {
  read(range: Range, options: ListOptions): Promise<Page>;
  select(entry: Entry): EncodedObject | undefined;
}

/** Rows that are read at once, and that one page looks through for what is selected. */
const maxRows = 500;
const maxRowsOfPage = 4_000;

/**
 * Returns the rows of the index that a list is read from: those of `orderBy`, of the field selector
 * `search`, or of a selector that says where in an order its objects are; undefined for another list, and
 * for a search among what one may see. Throws 400 for an order that there is not, and 503 while rows are
 * missing.
 */
export function indexRangeOf(
  { kind, query, view }: ResourceRequestInfo,
  { search, part }: Selector,
  canSeeAll: boolean,
  indexes: Indexes,
): Range | undefined {
  const asked = query.get('orderBy');
  if (asked === undefined && search === undefined) {
    return part && canSeeAll && indexes.isComplete(kind) ? orderPart(kind, part) : undefined;
  }
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
  if (field === undefined) return searchRange(kind, search!);
  return part?.field === field ? orderPart(kind, part) : orderRange(kind, field);
}

/**
 * Reads objects in the order of an index until there are `limit` and one more, or its rows end. A page
 * that looked through many rows ends before: it may have fewer objects, or none, and a next one.
 */
export async function readIndexPage(
  kind: AnyKind,
  { from, all, at, owner }: IndexRows,
  { read, select }: IndexSource,
  limit: number,
): Promise<IndexPage> {
  const entries: EncodedObject[] = [];
  let last: string | undefined;
  let rowCount = 0;
  for (let range = from, revision = at; ; ) {
    const page = await read(range, {
      limit: Math.min(Math.max(limit - entries.length + 1, rowCount), maxRows),
      ahead: 1,
      ...(revision !== undefined && { at: revision }),
    });
    revision = page.revision;
    const readEntry = (row: Entry): Promise<Entry | undefined> =>
      entryOf(kind, row, (exact) => read(exact, { limit: 1, ahead: 0, at: page.revision }));
    const rows = page.entries.filter(({ key }) => isOfOwner(kind, nameOfRow(key), owner));
    const found = await Promise.all(rows.map(readEntry));
    for (const [i, { key }] of rows.entries()) {
      const object = found[i] && select(found[i]);
      if (!object || !isFirstRow(kind, object, key, all)) continue;
      if (entries.length === limit) return { entries, last, revision, hasMore: true };
      entries.push(object);
      last = key;
    }
    if (page.more === 0) return { entries, last, revision, hasMore: false };
    rowCount += page.entries.length;
    if (rowCount >= maxRowsOfPage && limit !== Infinity) {
      return { entries, last: page.entries.at(-1)!.key, revision, hasMore: true };
    }
    range = { start: startAfter(page.entries), end: range.end };
  }
}

const isOfOwner = ({ owner }: AnyKind, name: string, of: string | undefined): boolean =>
  of === undefined || (owner === 'metadata.name' ? name === of : name.startsWith(`${of}-`));

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
