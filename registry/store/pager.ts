import { CompactedError, type Page, type Revision, startAfter } from '../../storage/storage.js';
import { EncodedObject, isLive, objectsRange } from '../encoded-object.js';
import type { AnyKind } from '../kind.js';
import { toStatusError } from '../status/storage-errors.js';
import type { Store } from './store.js';

/**
 * Yields every object of a kind in pages, all at one revision. If that revision is compacted
 * in between, the rest is read at the current one.
 */
export async function* listPages(
  store: Store,
  kind: AnyKind,
  size: number,
): AsyncGenerator<EncodedObject[]> {
  const { end, start } = objectsRange(kind);
  let revision: Revision | undefined;
  for (let from = start; ; ) {
    const page: Page = await readPage(store, { start: from, end }, size, revision);
    revision = page.revision;
    yield page.entries
      .filter((entry) => isLive(entry, Date.now()))
      .map((entry) => new EncodedObject(kind, entry));
    if (page.more === 0) return;
    from = startAfter(page.entries);
  }
}

async function readPage(
  store: Store,
  range: { start: string; end: string },
  limit: number,
  at: Revision | undefined,
): Promise<Page> {
  try {
    return await toStatusError(
      store.storage.list(range, { limit, ...(at !== undefined && { at }) }),
    );
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    return toStatusError(store.storage.list(range, { limit }));
  }
}

/**
 * Counts an object and those of its kind after it, without reading them: there may be millions.
 * Expired ones count until they are collected.
 */
export function countFrom(
  { storage }: Pick<Store, 'storage'>,
  { kind, entry }: EncodedObject,
): Promise<number> {
  const { end } = objectsRange(kind);
  return toStatusError(storage.count({ start: entry.key, end }));
}
