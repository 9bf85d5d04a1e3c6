import { EncodedObject } from '../../registry/encoded-object.js';
import type { Entry } from '../../storage/storage.js';
import type { AuthorizedRequest } from '../http/message.js';
import type { ResourceRequestInfo } from '../request/request-info.js';
import { whole } from '../codec/representation.js';

const comma = Buffer.from(',');

/** What a list's body ends with. */
export const listEnd = Buffer.from(']}');

/** What a view knows of the call that it is made for. */
export const viewCall = ({ caller }: AuthorizedRequest) => ({ caller, now: Date.now() });

/** Items with the commas between them. */
export function itemsOf(
  entries: readonly EncodedObject[],
  authorized: AuthorizedRequest,
): Buffer[] {
  const { view } = authorized.requestInfo as ResourceRequestInfo;
  const seen = viewCall(authorized);
  return entries.flatMap((one, i) =>
    i === 0 ? [view.item(one, seen)] : [comma, view.item(one, seen)],
  );
}

/**
 * What is sent of pages that show whole objects alike to whoever sees them, by what was read: where
 * a store hands out the same again, it is known what that looks like.
 */
const known = new WeakMap<
  readonly Entry[],
  { readonly count: number; readonly items: readonly Buffer[] }
>();

/** The items of `shown`, all but the last of `entries` or all of them. */
export function itemsAlike(
  authorized: AuthorizedRequest,
  entries: readonly Entry[],
  shown: readonly Entry[],
): readonly Buffer[] {
  const { kind, view } = authorized.requestInfo as ResourceRequestInfo;
  const isAlike = view === whole && !kind.strategy.status;
  const before = isAlike ? known.get(entries) : undefined;
  if (before?.count === shown.length) return before.items;
  const items = [
    Buffer.concat(
      itemsOf(
        shown.map((entry) => new EncodedObject(kind, entry)),
        authorized,
      ),
    ),
  ];
  if (isAlike) known.set(entries, { count: shown.length, items });
  return items;
}

/**
 * What was last sent of a page, by its items: as long as nothing happens, the next is the very
 * same.
 */
const sent = new WeakMap<
  readonly Buffer[],
  { readonly head: string; readonly body: readonly Buffer[] }
>();

/** A list's body: in one piece where the same was sent before. */
export function bodyOf(head: string, items: readonly Buffer[]): readonly Buffer[] {
  const before = sent.get(items);
  const isSame = before?.head === head;
  if (isSame && before.body.length === 1) return before.body;
  const parts = [Buffer.from(head), ...items, listEnd];
  sent.set(items, { head, body: isSame ? [Buffer.concat(parts)] : parts });
  return parts;
}
