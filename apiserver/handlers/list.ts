import { EncodedObject, isLive, uniqueKey } from '../../registry/encoded-object.js';
import { forbiddenField } from '../../registry/status/field-errors.js';
import { badRequest, expired, invalid } from '../../registry/status/status.js';
import { toStatusError } from '../../registry/status/storage-errors.js';
import type { Store } from '../../registry/store/store.js';
import type { Keys } from '../../security/keyring.js';
import {
  CompactedError,
  type Entry,
  type ListOptions,
  type Page,
  type Range,
  type Revision,
  startAfter,
} from '../../storage/storage.js';
import type { Authorization } from '../chain/authorization.js';
import { maxCount, versionOf, wholeNumber } from '../codec/query.js';
import { parseSelector, type Selector } from '../codec/selectors.js';
import type {
  ApiRequest,
  ApiResponse,
  AuthorizedResourceRequest,
  ResourceRequest,
} from '../http/message.js';
import type { Encoder } from '../http/response.js';
import { optionsKind } from '../request/options-kind.js';
import type { ResourceRequestInfo } from '../request/request-info.js';
import { ContinueTokens, selectorFingerprint } from './continue-token.js';
import { type IndexRows, indexRangeOf, readIndexPage } from './index-list.js';
import { itemsOf, itemsOfPage, listEnd, viewContextOf } from './list-body.js';
import { rangeOf, selectedName } from './requested-range.js';
import { waitUntilFresh } from './resource-version.js';

/** The minimum page size when some rows are filtered out. */
const filteredPageSize = 100;

/** remainingItemCount is given below this count. */
const maxCountedRemaining = 1000;

/**
 * A page of a collection up to the key `last`, and how many items follow if that may be disclosed.
 */
interface ListPage {
  /** The items and the end of the list. */
  items: Buffer;
  count: number;
  last: string | undefined;
  revision: Revision;
  hasMore: boolean;
  isFiltered: boolean;
  remaining?: number | undefined;
}

/**
 * Selection and authorization of items: whether a selector filters, whether all items pass, and
 * each item.
 */
interface SelectionPredicate {
  readonly hasSelector: boolean;
  readonly passAll: boolean;
  /** Loads what `select` needs to know of these entries. */
  prepare(entries: readonly Entry[]): Promise<void>;
  select(entry: Entry): EncodedObject | undefined;
}

/**
 * Lists a collection: one page if `limit` is given, otherwise all of it, streamed
 * (docs/design/kubernetes.md#lists).
 */
export class Lister {
  readonly #store: Store;
  readonly #authorization: Authorization;
  readonly #encoder: Encoder;
  readonly #tokens: ContinueTokens;

  constructor(store: Store, authorization: Authorization, encoder: Encoder, keys: Keys) {
    this.#store = store;
    this.#authorization = authorization;
    this.#encoder = encoder;
    this.#tokens = new ContinueTokens(keys);
  }

  get #maxPageSize(): number {
    return this.#store.settings.limits.listPageSize;
  }

  async list(req: ResourceRequest, res: ApiResponse): Promise<void> {
    const { authorized } = req;
    const { requestInfo } = authorized;
    const selector = parseSelector(requestInfo.query, requestInfo.kind, requestInfo.view.names);
    const limit = wholeNumber(requestInfo.query, 'limit', maxCount);
    const token = this.#tokens.open(authorized, requestInfo.query);
    const wanted = token?.r ?? (await this.#readRevision(requestInfo, limit));
    const { name, revision } = await this.#resolveUnique(authorized, selector, wanted);
    const canSeeAll = this.#authorization.canSeeAll(authorized);
    const indexed = indexRangeOf(requestInfo, selector, canSeeAll, this.#store.indexes);
    const range = indexed ?? rangeOf(authorized, name);
    const from = token ? { start: `${token.k}!`, end: range.end } : range;
    if (!limit && !indexed) return this.#listAll(req, res, authorized, selector, from, revision);
    const predicate = this.#predicate(authorized, selector);
    const size = limit ? Math.min(limit, this.#maxPageSize) : Infinity;
    const found = indexed
      ? await this.#indexPage(authorized, predicate, { from, all: indexed, at: revision }, size)
      : await this.#page(authorized, predicate, from, size, revision, !token);
    const remaining =
      token?.n !== undefined && !found.isFiltered ? token.n - found.count : found.remaining;
    const next =
      found.hasMore && found.last !== undefined
        ? this.#tokens.seal(authorized, {
            r: found.revision,
            k: found.last,
            q: selectorFingerprint(requestInfo.query),
            ...(remaining !== undefined && { n: remaining }),
          })
        : undefined;
    const head = requestInfo.representation.listStart(requestInfo.kind, {
      resourceVersion: String(found.revision),
      ...(next && { continue: next }),
      ...(next && remaining && { remainingItemCount: remaining }),
    });
    this.#encoder.sendParts(req, res, Buffer.from(head), found.items);
  }

  /**
   * Returns the name in the store that a selector limits a list to. That of a unique value is read from
   * its reservation, at the revision of the list; it is empty if no object has the value.
   */
  async #resolveUnique(
    authorized: AuthorizedResourceRequest,
    { name: selected, unique }: Selector,
    at: Revision | undefined,
  ): Promise<{ name?: string; revision?: Revision }> {
    const name = selectedName(authorized.requestInfo, selected);
    const found = {
      ...(name !== undefined && { name }),
      ...(at !== undefined && { revision: at }),
    };
    if (selected !== undefined || !unique) return found;
    if (!this.#authorization.canSeeAll(authorized)) return found;
    const { kind } = authorized.requestInfo;
    const start = uniqueKey(kind, unique.field, unique.value);
    const { entries, revision } = await this.#read(
      { start, end: `${start}!` },
      { limit: 1, ...(at !== undefined && { at }) },
    );
    return { name: entries[0]?.value.toString() ?? '', revision };
  }

  /** Reads a page in the order of an index, by who may see every object. */
  async #indexPage(
    authorized: AuthorizedResourceRequest,
    { select }: SelectionPredicate,
    rows: IndexRows,
    limit: number,
  ): Promise<ListPage> {
    const { entries, ...page } = await readIndexPage(
      authorized.requestInfo.kind,
      { ...rows, owner: authorized.owner },
      { read: (range, options) => this.#read(range, options), select },
      limit,
    );
    const items = Buffer.concat([...itemsOf(entries, authorized), listEnd]);
    return { ...page, items, count: entries.length, isFiltered: true };
  }

  /** Reads a page of a range in which every object is visible, and one entry more. */
  async #wholePage(
    authorized: AuthorizedResourceRequest,
    range: Range,
    limit: number,
    at: Revision | undefined,
    isFirst: boolean,
  ): Promise<ListPage> {
    const { entries, more, revision } = await this.#read(range, {
      limit: limit + 1,
      ...(at !== undefined && { at }),
      ...(!isFirst && { ahead: 1 }),
    });
    const count = Math.min(entries.length, limit);
    const hasMore = entries.length > limit;
    return {
      items: itemsOfPage(entries, count, authorized),
      count,
      last: entries[count - 1]?.key,
      revision,
      hasMore,
      isFiltered: false,
      ...(isFirst && hasMore && more + 1 < maxCountedRemaining && { remaining: more + 1 }),
    };
  }

  /**
   * Reads pages until it has `limit` visible objects and one more, or the range ends, so that a
   * continue token never leads to an empty page.
   */
  async #page(
    authorized: AuthorizedResourceRequest,
    predicate: SelectionPredicate,
    range: Range,
    limit: number,
    at: Revision | undefined,
    isFirst: boolean,
  ): Promise<ListPage> {
    if (predicate.passAll) return this.#wholePage(authorized, range, limit, at, isFirst);
    const entries: EncodedObject[] = [];
    const pageSoFar = () => ({
      items: Buffer.concat([...itemsOf(entries, authorized), listEnd]),
      count: entries.length,
      last: entries.at(-1)?.entry.key,
    });
    let isFiltered = predicate.hasSelector;
    for (let from = range, revision = at; ; ) {
      const page = await this.#read(from, {
        limit: Math.max(limit - entries.length + 1, isFiltered ? filteredPageSize : 1),
        ...(revision !== undefined && { at: revision }),
        ...((isFiltered || !isFirst) && { ahead: 1 }),
      });
      revision = page.revision;
      await predicate.prepare(page.entries);
      for (const [i, entry] of page.entries.entries()) {
        const stored = predicate.select(entry);
        if (stored && entries.length === limit) {
          return {
            ...pageSoFar(),
            revision,
            hasMore: true,
            isFiltered,
            ...(isFirst &&
              !isFiltered && {
                remaining: await this.#remainingCount(
                  predicate,
                  { ...page, entries: page.entries.slice(i) },
                  range.end,
                ),
              }),
          };
        }
        if (stored) {
          entries.push(stored);
        } else {
          isFiltered = true;
        }
      }
      if (page.more === 0) return { ...pageSoFar(), revision, hasMore: false, isFiltered };
      from = { start: startAfter(page.entries), end: range.end };
    }
  }

  /** Returns how many items follow, if all are visible: a count must not disclose hidden ones. */
  async #remainingCount(
    predicate: SelectionPredicate,
    { entries, more, revision }: Page,
    end: string,
  ): Promise<number | undefined> {
    if (entries.length + more >= maxCountedRemaining) return undefined;
    const rest =
      more === 0
        ? []
        : (
            await this.#read(
              { start: startAfter(entries), end },
              { limit: more, at: revision, ahead: 1 },
            )
          ).entries;
    const following = [...entries, ...rest];
    await predicate.prepare(following);
    return following.every((entry) => predicate.select(entry))
      ? entries.length + rest.length
      : undefined;
  }

  async #listAll(
    req: ApiRequest,
    res: ApiResponse,
    authorized: AuthorizedResourceRequest,
    selector: Selector,
    range: Range,
    at: Revision | undefined,
  ): Promise<void> {
    const { kind, representation } = authorized.requestInfo;
    const predicate = this.#predicate(authorized, selector);
    const viewContext = viewContextOf(authorized);
    let page = await this.#read(range, {
      limit: this.#maxPageSize,
      ahead: 1,
      ...(at !== undefined && { at }),
    });
    const { revision } = page;
    const opening = representation.listStart(kind, { resourceVersion: String(revision) });
    const chunks: Buffer[] = [];
    let written = 0;
    for (;;) {
      await predicate.prepare(page.entries);
      for (const entry of page.entries) {
        const stored = predicate.select(entry);
        if (!stored) continue;
        chunks.push(
          Buffer.from(written > 0 ? ',' : ''),
          representation.listItem(stored, viewContext),
        );
        written += 1;
      }
      if (page.more === 0) break;
      if (!res.headersSent) {
        this.#encoder.begin(req, res, 200);
        write(res, Buffer.from(opening));
      }
      if (chunks.length > 0 && !write(res, Buffer.concat(chunks.splice(0)))) {
        await new Promise<void>((resolve) => {
          res.once('drain', resolve);
          res.once('close', resolve);
        });
      }
      if (res.destroyed) return;
      page = await this.#read(
        { start: startAfter(page.entries), end: range.end },
        { limit: this.#maxPageSize, at: revision, ahead: 1 },
      );
    }
    const rest = Buffer.concat([...chunks, listEnd]);
    if (res.headersSent) {
      res.bytes += rest.length;
      res.end(rest);
    } else {
      this.#encoder.send(req, res, 200, Buffer.concat([Buffer.from(opening), rest]));
    }
  }

  #predicate(authorized: AuthorizedResourceRequest, selector: Selector): SelectionPredicate {
    const { kind } = authorized.requestInfo;
    const hasSelector = selector.hasFilters;
    const canSeeAll = this.#authorization.canSeeAll(authorized);
    let prepared = authorized;
    const prepare = async (entries: readonly Entry[]): Promise<void> => {
      if (canSeeAll) return;
      const objects = entries.map((entry) => new EncodedObject(kind, entry));
      prepared = (await this.#authorization.loadFor(authorized, objects)) ?? authorized;
    };
    const select = (entry: Entry): EncodedObject | undefined => {
      if (!isLive(entry, Date.now())) return undefined;
      const stored = new EncodedObject(kind, entry);
      return (!hasSelector || selector.matches(stored.object)) &&
        (canSeeAll || this.#authorization.canSee(prepared, stored))
        ? stored
        : undefined;
    };
    return { hasSelector, select, prepare, passAll: canSeeAll && !hasSelector && !kind.expires };
  }

  async #read(range: Range, options: ListOptions): Promise<Page> {
    try {
      return await toStatusError(this.#store.storage.list(range, options));
    } catch (error) {
      if (error instanceof CompactedError) {
        throw expired(
          'The provided continue parameter or resourceVersion is too old; list again without it',
        );
      }
      throw error;
    }
  }

  /**
   * Returns the revision to read at, or undefined for the latest (docs/design/kubernetes.md#lists).
   */
  async #readRevision(
    { query }: ResourceRequestInfo,
    limit: number | undefined,
  ): Promise<Revision | undefined> {
    const match = query.get('resourceVersionMatch');
    const text = query.get('resourceVersion') || undefined;
    const matchError = (message: string): Error =>
      invalid(optionsKind('list'), '', [forbiddenField('resourceVersionMatch', message)]);
    const version = versionOf(query, () => badRequest('resourceVersion must be a decimal number'));
    if (query.has('sendInitialEvents')) {
      throw invalid(optionsKind('list'), '', [
        forbiddenField('sendInitialEvents', 'sendInitialEvents is for watches'),
      ]);
    }
    if (match !== undefined && !['Exact', 'NotOlderThan'].includes(match)) {
      throw matchError('supported values: "Exact", "NotOlderThan"');
    }
    if (match !== undefined && text === undefined) {
      throw matchError('resourceVersionMatch needs a resourceVersion');
    }
    if (match === 'Exact' && text === '0') {
      throw matchError('Exact needs a resourceVersion other than "0"');
    }
    if (version === undefined) return undefined;
    await waitUntilFresh(this.#store, version);
    return match === 'Exact' || (match === undefined && limit) ? version : undefined;
  }
}

/** Writes a part of a streamed body; returns false if the client is slow. */
function write(res: ApiResponse, bytes: Buffer): boolean {
  res.bytes += bytes.length;
  return res.write(bytes);
}
