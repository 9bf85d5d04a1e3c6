import { clone, EncodedObject } from '../../registry/encoded-object.js';
import type { Call, KindObject } from '../../registry/kind.js';
import { toStatusError } from '../../registry/status/storage-errors.js';
import type { Store } from '../../registry/store/store.js';
import type { KindView } from '../../registry/versions/kind-view.js';
import type { Authorization } from '../chain/authorization.js';
import { wireObject } from '../codec/object-encoding.js';
import { maxCount, wholeNumber } from '../codec/query.js';
import { parseSelector } from '../codec/selectors.js';
import type { AuthorizedRequest, ResourceRequest } from '../http/message.js';
import { checkPreconditions, type DeleteOptions, deleted } from './delete-options.js';
import { rangeOf, selectedName } from './requested-range.js';

/**
 * Deletes the selected objects that the caller may delete, each in a commit of its own; returns them as
 * a List. `callOf` returns the call for one object.
 */
export async function deleteCollection(
  { authorized }: ResourceRequest,
  options: DeleteOptions,
  { store, authorization }: { readonly store: Store; readonly authorization: Authorization },
  callOf: (authorized: AuthorizedRequest) => Call,
): Promise<Record<string, unknown>> {
  const { requestInfo } = authorized;
  const { kind, view } = requestInfo;
  const selector = parseSelector(requestInfo.query, kind, view.names);
  const range = rangeOf(authorized, selectedName(requestInfo, selector.name));
  const page = await toStatusError(store.storage.list(range));
  const objects = page.entries.map((entry) => new EncodedObject(kind, entry));
  const prepared = (await authorization.loadFor(authorized, objects)) ?? authorized;
  const max = wholeNumber(requestInfo.query, 'limit', maxCount) || Infinity;
  const items: unknown[] = [];
  for (const stored of objects) {
    const one = selector.matches(stored.object)
      ? authorization.authorizeOne(prepared, stored)
      : undefined;
    if (!one) continue;
    const call = callOf(one);
    const old = await call.change(async (tx) => {
      const target = await tx.get(kind, stored.name);
      if (target) checkPreconditions(requestInfo, options, target);
      return tx.delete(kind, stored.name, options.propagationPolicy);
    });
    if (old) items.push(deletedItem(view, old, call));
    if (items.length === max) break;
  }
  return {
    kind: `${kind.kind}List`,
    apiVersion: view.apiVersion,
    metadata: { resourceVersion: String(page.revision) },
    items,
  };
}

/** Returns a deleted object as it is listed; with deletionTimestamp if the kind deletes in steps. */
function deletedItem(view: KindView, old: KindObject, call: Call): Record<string, unknown> {
  const { kind } = view;
  const response = clone(kind.strategy.beginDelete ? deleted(old, call.now) : old);
  kind.strategy.status?.(response, call);
  return wireObject(view, response);
}
