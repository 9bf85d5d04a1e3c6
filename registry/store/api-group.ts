import { isDeepStrictEqual } from 'node:util';
import type { AnyKind } from '../kind.js';
import type { ServedVersion } from '../served-version.js';

/** An API group of a server: its kinds, and the versions that they share. */
export class ApiGroup {
  /** Its DNS name. */
  readonly name: string;
  readonly kinds: readonly AnyKind[];
  /** All versions that are served, the preferred one first. */
  readonly versions: readonly ServedVersion[];
  /** The version that clients should use. */
  readonly version: string;
  /** Group and version as in objects. */
  readonly apiVersion: string;
  /** Whether keys of the store have the name of the group. */
  readonly hasQualifiedKeys: boolean;
  /** The version in which objects are written; by default that of the schemas. */
  storedVersion: string;

  /** Takes the kinds of one group; throws an Error unless all have the same versions. */
  constructor(kinds: readonly [AnyKind, ...AnyKind[]]) {
    const [first] = kinds;
    const other = kinds.find(
      ({ apiVersion, versions }) =>
        apiVersion !== first.apiVersion || !isDeepStrictEqual(versions, first.versions),
    );
    if (other) {
      throw new Error(
        `all kinds of a group must have its versions: ${first.kind} is of ${first.apiVersion}, ` +
          `${other.kind} of ${other.apiVersion}`,
      );
    }
    this.name = first.group;
    this.kinds = kinds;
    this.versions = first.versions;
    this.version = first.versions[0]!.version;
    this.apiVersion = `${first.group}/${this.version}`;
    this.hasQualifiedKeys = kinds.every(({ resource, storageName }) => storageName !== resource);
    this.storedVersion = first.version;
  }
}

/** Returns the groups of kinds, in the order of the kinds; throws an Error if they contradict each other. */
export function groupsOf(kinds: readonly AnyKind[]): readonly ApiGroup[] {
  for (const kind of kinds) checkScope(kind);
  const groups = [...new Set(kinds.map(({ group }) => group))].flatMap((name) => {
    const [first, ...others] = kinds.filter(({ group }) => group === name);
    return first ? [new ApiGroup([first, ...others])] : [];
  });
  const [one, other] = groups.filter(({ hasQualifiedKeys }) => !hasQualifiedKeys);
  if (one && other) {
    throw new Error(
      `${one.name} and ${other.name} would share keys of the store: set hasQualifiedKeys in kindsOf of ` +
        'the group that has no objects yet',
    );
  }
  return groups;
}

/** Throws an Error for a kind whose objects have no paths or keys of their own. */
function checkScope({ kind, resource, scope, owner }: AnyKind): void {
  if (resource === 'namespaces') {
    throw new Error(
      `${kind} cannot have the resource namespaces: paths of namespaced kinds have it`,
    );
  }
  if (scope === 'Namespaced' && owner !== undefined) {
    throw new Error(`${kind} is namespaced, and so has no owner: its name begins with no other`);
  }
}
