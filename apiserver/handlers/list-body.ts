import { EncodedObject } from '../../registry/encoded-object.js';
import type { KindView } from '../../registry/versions/kind-view.js';
import type { Entry } from '../../storage/storage.js';
import type { AuthorizedResourceRequest } from '../http/message.js';

const comma = Buffer.from(',');

/** The end of a list's body. */
export const listEnd = Buffer.from(']}');

/** The context of a representation. */
export const viewContextOf = ({ caller }: AuthorizedResourceRequest) => ({
  caller,
  now: Date.now(),
});

/** Encodes items, separated by commas. */
export function itemsOf(
  entries: readonly EncodedObject[],
  authorized: AuthorizedResourceRequest,
): Buffer[] {
  const { representation } = authorized.requestInfo;
  const viewContext = viewContextOf(authorized);
  return entries.flatMap((entry, i) =>
    i === 0
      ? [representation.listItem(entry, viewContext)]
      : [comma, representation.listItem(entry, viewContext)],
  );
}

/** Encoded pages by version, as long as the store returns the same page. */
const encodedPages = new WeakMap<readonly Entry[], Map<KindView, Buffer>>();

/**
 * Encodes the first `count` entries of a page of which every object is visible, and the end of the
 * list. Whole objects whose status does not depend on the caller are the same for every caller, so
 * they are encoded once.
 */
export function itemsOfPage(
  entries: readonly Entry[],
  count: number,
  authorized: AuthorizedResourceRequest,
): Buffer {
  const { kind, view, representation } = authorized.requestInfo;
  const isShared = representation.isWhole && !kind.strategy.status;
  const known = encodedPages.get(entries) ?? new Map<KindView, Buffer>();
  const cached = isShared ? known.get(view) : undefined;
  if (cached) return cached;
  const objects = entries.slice(0, count).map((entry) => new EncodedObject(kind, entry));
  const items = Buffer.concat([...itemsOf(objects, authorized), listEnd]);
  if (isShared) encodedPages.set(entries, known.set(view, items));
  return items;
}
