/** A JSON object. */
export type JsonObject = { readonly [name: string]: unknown };

/** Returns whether a value is a JSON object, not an array. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns whether two JSON values are the same; the order of members does not count. */
export function isSame(value: unknown, other: unknown): boolean {
  if (value === other) return true;
  if (typeof value !== 'object' || typeof other !== 'object' || !value || !other) return false;
  if (Array.isArray(value) !== Array.isArray(other)) return false;
  const names = new Set([...Object.keys(value), ...Object.keys(other)]);
  return [...names].every((name) =>
    isSame((value as JsonObject)[name], (other as JsonObject)[name]),
  );
}

/** Returns the merge patch that leads from one object to another; null removes (RFC 7396). */
export function mergePatch(from: JsonObject, to: JsonObject): JsonObject {
  const patch: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [before, after] = [from[name], to[name]];
    if (isSame(before, after)) continue;
    if (after === undefined) {
      patch[name] = null;
    } else {
      patch[name] = isObject(before) && isObject(after) ? mergePatch(before, after) : after;
    }
  }
  return patch;
}

/** A field that two people changed, or one of them. */
export interface FieldChange {
  readonly path: readonly string[];
  readonly before: unknown;
  readonly mine: unknown;
  readonly theirs: unknown;
  /** Both changed it, to different values: the person chooses. */
  readonly isConflict: boolean;
}

/** Returns the fields that differ between a common version and two later ones. Lists are one field. */
export function fieldChanges(
  before: unknown,
  mine: unknown,
  theirs: unknown,
  path: readonly string[] = [],
): FieldChange[] {
  if (isSame(before, mine) && isSame(before, theirs)) return [];
  const versions = [before, mine, theirs];
  const names = new Set(versions.flatMap((side) => (isObject(side) ? Object.keys(side) : [])));
  if (names.size && versions.every((side) => isObject(side) || side === undefined)) {
    return [...names].flatMap((name) => {
      const [a, b, c] = versions.map((side) => (side as JsonObject | undefined)?.[name]);
      return fieldChanges(a, b, c, [...path, name]);
    });
  }
  const isConflict = !isSame(before, mine) && !isSame(before, theirs) && !isSame(mine, theirs);
  return [{ path, before, mine, theirs, isConflict }];
}

/** Returns an object with another value at a path; undefined removes the field. */
export function withValue(
  object: JsonObject,
  [name, ...rest]: readonly string[],
  value: unknown,
): JsonObject {
  if (name === undefined) return isObject(value) ? value : {};
  const { [name]: former, ...others } = object;
  if (value === undefined && former === undefined) return object;
  const next = rest.length ? withValue(isObject(former) ? former : {}, rest, value) : value;
  return next === undefined ? others : { ...others, [name]: next };
}
