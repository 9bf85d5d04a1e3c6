import { objectKey, objectsRange } from '../../registry/encoded-object.js';
import { namespacedName } from '../../registry/schema/namespaced-name.js';
import type { Range } from '../../storage/storage.js';
import type { AuthorizedResourceRequest } from '../http/message.js';
import type { ResourceRequestInfo } from '../request/request-info.js';

/**
 * Returns the key range of a list, watch or deletecollection: of a kind, of the part of an owner or of a
 * namespace, or of the one object that `selectedName` names.
 */
export function rangeOf(
  { owner, requestInfo: { kind, namespace } }: AuthorizedResourceRequest,
  name: string | undefined,
): Range {
  const part = owner ?? namespace;
  const range = objectsRange(kind, part);
  const ownsItself = kind.owner === 'metadata.name';
  const exact = name ?? (ownsItself ? part : undefined);
  if (exact === undefined) return range;
  const start = objectKey(kind, exact);
  const isInside = ownsItself ? exact === part : start.startsWith(range.start);
  if (part !== undefined && !isInside) return { start: range.start, end: range.start };
  return { start, end: `${start}!` };
}

/**
 * Returns the name in the store of the object that a selector names; undefined for none, and for all
 * namespaces, which may have several.
 */
export function selectedName(
  { kind, namespace }: ResourceRequestInfo,
  name: string | undefined,
): string | undefined {
  const isAmbiguous = kind.scope === 'Namespaced' && namespace === undefined;
  return name === undefined || isAmbiguous ? undefined : namespacedName({ namespace, name });
}
