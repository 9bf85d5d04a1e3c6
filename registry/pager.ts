import { Compacted, under, type Page, type Revision } from '../storage/storage.js';
import { guard } from './storage-errors.js';
import type { AnyKind } from './kind.js';
import type { Store } from './store.js';
import { counts, Stored } from './encoded-object.js';

/**
 * Every object of a kind in pages, all as they stood at one revision; where that is forgotten on
 * the way, the rest as it stands then.
 */
export async function* pagesOf(
  store: Store,
  kind: AnyKind,
  size: number,
): AsyncGenerator<Stored[]> {
  const { end, start } = under(`objects/${kind.resource}/`);
  let at: Revision | undefined;
  for (let from = start; ; ) {
    const page: Page = await read(store, { start: from, end }, size, at);
    at = page.revision;
    yield page.entries
      .filter((entry) => counts(entry, Date.now()))
      .map((entry) => new Stored(kind, entry));
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
    return await guard(store.storage.list(range, { limit, ...(at !== undefined && { at }) }));
  } catch (error) {
    if (!(error instanceof Compacted)) throw error;
    return guard(store.storage.list(range, { limit }));
  }
}
