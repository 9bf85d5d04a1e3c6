import { CompactedError, prefixRange, type Page, type Revision } from '../storage/storage.js';
import { toStatusError } from './storage-errors.js';
import type { AnyKind } from './kind.js';
import type { Store } from './store.js';
import { isLive, EncodedObject } from './encoded-object.js';

/**
 * Every object of a kind in pages, all as they stood at one revision; where that is forgotten on
 * the way, the rest as it stands then.
 */
export async function* pages(
  store: Store,
  kind: AnyKind,
  size: number,
): AsyncGenerator<EncodedObject[]> {
  const { end, start } = prefixRange(`objects/${kind.resource}/`);
  let at: Revision | undefined;
  for (let from = start; ; ) {
    const page: Page = await read(store, { start: from, end }, size, at);
    at = page.revision;
    yield page.entries
      .filter((entry) => isLive(entry, Date.now()))
      .map((entry) => new EncodedObject(kind, entry));
    if (page.more === 0) return;
    from = `${page.entries.at(-1)!.key}!`;
  }
}

async function read(
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
