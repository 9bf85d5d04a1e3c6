import { clone } from '../encoded-object.js';
import type { AnyKind, Draft, ObjectOf, Transaction } from '../kind.js';
import { splitName } from '../schema/namespaced-name.js';

/**
 * Creates, changes or deletes an object of a transaction, by what `work` returns for a copy of the old
 * one: the object as it becomes, `delete`, or `leave` for no change.
 */
export async function upsert<K extends AnyKind>(
  tx: Transaction,
  kind: K,
  name: string,
  work: (old: ObjectOf<K> | undefined) => Draft<ObjectOf<K>> | 'delete' | 'leave',
): Promise<void> {
  const old = await tx.get(kind, name);
  const outcome = work(old && clone(old));
  if (outcome === 'leave') return;
  if (outcome === 'delete') return void (await tx.delete(kind, name));
  const draft = outcome;
  const metadata = { ...draft.metadata, ...splitName(name) };
  if (!old) return void (await tx.create(kind, { ...draft, metadata }));
  await tx.update(kind, name, (next) => {
    Object.assign(next, { spec: draft.spec, status: draft.status, internal: draft.internal });
    Object.assign(next.metadata, metadata);
  });
}
