import { uniqueKey } from '../../encoded-object.js';
import type { AnyKind, Transaction } from '../../kind.js';
import type { Limits } from '../../limits/limit-settings.js';
import { namespacedName } from '../../schema/namespaced-name.js';
import { alreadyExists } from '../../status/status.js';
import { type ObjectChange, updateIndexRows } from './index-rows.js';

/** Changes the rows that follow from an object: of its unique values, and of its indexes. */
export async function updateDerivedRows(
  tx: Transaction,
  kind: AnyKind,
  change: ObjectChange,
  limits: Limits,
): Promise<void> {
  await updateUniqueValues(tx, kind, change, limits);
  updateIndexRows(tx, kind, change, limits);
}

/**
 * Reserves the unique values that an object gets, and gives back those that it had. Throws 409 if
 * another object has one.
 */
async function updateUniqueValues(
  tx: Transaction,
  kind: AnyKind,
  { next, old }: ObjectChange,
  limits: Limits,
): Promise<void> {
  for (const [field, selectValues] of Object.entries(kind.unique)) {
    const previous = valuesOf(old && selectValues(old));
    const wanted = valuesOf(next && selectValues(next));
    const gone = [...previous].filter((value) => !wanted.has(value));
    for (const value of gone) tx.remove(uniqueKey(kind, field, value));
    for (const value of [...wanted].filter((one) => !previous.has(one))) {
      const name = namespacedName(next!.metadata);
      const key = uniqueKey(kind, field, value);
      const reserved = await tx.read(key);
      if (reserved && reserved.value.toString() !== name) {
        throw alreadyExists(kind, next!.metadata.name, field);
      }
      tx.write(key, Buffer.from(name), kind.expires?.(next!, limits));
    }
  }
}

const valuesOf = (values: string | readonly string[] | undefined): ReadonlySet<string> =>
  new Set(typeof values === 'string' ? [values] : values);
