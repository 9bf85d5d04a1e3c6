import type { AnyKind } from '../kind.js';
import type { ServedVersion, Versioned } from '../served-version.js';
import { FieldTree } from './field-names.js';

/**
 * A kind as one version has it. The kind itself is the hub: what strategies, policy, indexes and
 * columns see (docs/design/versions.md).
 */
export interface KindView extends ServedVersion {
  readonly kind: AnyKind;
  /** Group and version as in objects. */
  readonly apiVersion: string;
  /** The names that differ from the hub's; undefined if none does. */
  readonly names: FieldTree | undefined;
}

const views = new WeakMap<Versioned, readonly KindView[]>();

/** Returns a kind as each version has it, in the order of {@link byPriority}. */
export function viewsOf(kind: Versioned): readonly KindView[] {
  const known = views.get(kind);
  if (known) return known;
  const made = kind.versions.map((served): KindView => {
    const names = kind.names[served.version];
    return {
      ...served,
      kind: kind as AnyKind,
      apiVersion: `${kind.group}/${served.version}`,
      names: names && FieldTree.of(names),
    };
  });
  views.set(kind, made);
  return made;
}

/** Returns a kind as a version has it; undefined if it is not served in it. */
export const viewIn = (kind: AnyKind, version: string): KindView | undefined =>
  viewsOf(kind).find((view) => view.version === version);

/** Returns a kind in the version of another one; of another group, which lacks it, as the code has it. */
export const viewLike = (kind: AnyKind, { version }: KindView): KindView =>
  viewIn(kind, version) ?? hubOf(kind);

/** Returns a kind as the code has it. */
export const hubOf = (kind: AnyKind): KindView => viewIn(kind, kind.version)!;

const form = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/**
 * Compares versions by Kubernetes' priority: stable ones first, then beta, then alpha, the higher
 * number first; names of other forms last, by the alphabet.
 */
export function byPriority(a: string, b: string): number {
  const rank = (version: string): readonly number[] => {
    const [, major, stage, minor = '0'] = form.exec(version) ?? [];
    if (major === undefined) return [3, 0, 0];
    return [{ alpha: 2, beta: 1 }[stage!] ?? 0, -Number(major), -Number(minor)];
  };
  const [one, other] = [rank(a), rank(b)];
  const differing = one.findIndex((value, i) => value !== other[i]);
  if (differing >= 0) return one[differing]! - other[differing]!;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
