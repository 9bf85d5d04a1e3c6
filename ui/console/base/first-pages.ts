import { call } from '../../base/api/api.js';

/** The objects that are read at most: there may be many, and they are listed by name. */
const maxPages = 4;
const pageSize = 500;

/** The first objects of a collection. */
export interface FirstObjects<T> {
  readonly items: readonly T[];
  readonly hasMore: boolean;
}

/** Reads the first 2,000 objects of a collection. */
export async function readFirst<T>(
  path: string,
  selectors: Readonly<Record<string, string>> = {},
): Promise<FirstObjects<T>> {
  const items: T[] = [];
  let more: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const query = new URLSearchParams({
      limit: String(pageSize),
      ...selectors,
      ...(more !== undefined && { continue: more }),
    });
    const list = await call<{ items: T[]; metadata: { continue?: string } }>(
      'GET',
      `${path}?${query}`,
    );
    items.push(...list.items);
    more = list.metadata.continue;
    if (!more) break;
  }
  return { items, hasMore: Boolean(more) };
}
