import type { AnyKind, Call, KindObject } from '../kind.js';
import type { Validator } from '../schema/schema.js';
import { invalid, StatusError } from '../status/status.js';

/**
 * Runs the default hook of a kind on an object about to be stored. The hook meets the spec before
 * `validator` has: if it throws for a spec that the schema refuses, throws 422 with the faults of the
 * schema.
 */
export async function setDefaults(
  kind: AnyKind,
  validator: Validator,
  { next, old, call }: { next: KindObject; old: KindObject | undefined; call: Call },
): Promise<void> {
  try {
    await kind.strategy.default?.(next, old, call);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    const causes = validator.check(next.spec, 'spec');
    throw causes.length > 0 ? invalid(kind, next.metadata.name, causes) : error;
  }
}
