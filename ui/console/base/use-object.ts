import type { ObjectMeta } from '../../api.js';
import { useCollection } from '../../base/api/collection.js';
import type { Kind } from './kind.js';
import { useSignInFor } from './use-request.js';

/** Follows one object of a kind. Leaves for a sign-in if reading it needs one. */
export function useObject<T extends { metadata: ObjectMeta }>(kind: Kind, name: string) {
  const { items, failure, reload } = useCollection<T>(kind.path, {
    fieldSelector: `metadata.name=${name}`,
  });
  useSignInFor(failure);
  return { items, failure, reload, object: items?.[0] };
}
