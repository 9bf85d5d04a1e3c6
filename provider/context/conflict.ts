import type { Check, Storage } from '../../storage/storage.js';

/** The commit of a unit of work failed: a key that it had read or checked was changed. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
  readonly keys: ReadonlySet<string>;
  constructor(keys: Iterable<string>) {
    super('a concurrent request changed an object that this request had read');
    this.keys = new Set(keys);
  }
}

/** Throws {@link ConflictError} with the keys of which a check does not hold any more. */
export async function assertUnchanged(storage: Storage, checks: readonly Check[]): Promise<void> {
  const changed: string[] = [];
  for (const { key, is } of checks) {
    const { entry } = await storage.get(key);
    const holds = is === 'present' ? entry !== undefined : is === (entry?.revision ?? 'absent');
    if (!holds) changed.push(key);
  }
  if (changed.length > 0) throw new ConflictError(changed);
}
