import type { AnyKind, KindObject } from '../../kind.js';
import { type Cause, invalid } from '../../status/status.js';

/** Throws 422 if an object has faults. */
export function throwFaults(
  kind: AnyKind,
  { metadata }: KindObject,
  faults: readonly Cause[] = [],
): void {
  if (faults.length > 0) throw invalid(kind, metadata.name, [...faults]);
}
