import type { PathElement } from './path-element.js';

/**
 * An immutable set of paths, as a tree. A path is in the set if its node is a member; the nodes
 * above need not be.
 */
export class FieldSet {
  static readonly empty = new FieldSet(false, new Map());

  /** Whether the path of this node is in the set. */
  readonly isMember: boolean;
  readonly children: ReadonlyMap<PathElement, FieldSet>;

  private constructor(isMember: boolean, children: ReadonlyMap<PathElement, FieldSet>) {
    this.isMember = isMember;
    this.children = children;
  }

  /** Returns a node with the children that are not empty. */
  static node(isMember: boolean, children: Iterable<[PathElement, FieldSet]>): FieldSet {
    const filled = new Map([...children].filter(([, child]) => !child.isEmpty));
    return !isMember && filled.size === 0 ? FieldSet.empty : new FieldSet(isMember, filled);
  }

  /** Returns the set of these paths. */
  static of(...paths: readonly (readonly PathElement[])[]): FieldSet {
    return paths.reduce<FieldSet>((set, path) => set.union(FieldSet.#single(path)), FieldSet.empty);
  }

  static #single(path: readonly PathElement[]): FieldSet {
    return path.reduceRight<FieldSet>(
      (inner, element) => FieldSet.node(false, [[element, inner]]),
      FieldSet.node(true, []),
    );
  }

  get isEmpty(): boolean {
    return !this.isMember && this.children.size === 0;
  }

  /** Returns the set below an element. */
  at(element: PathElement): FieldSet {
    return this.children.get(element) ?? FieldSet.empty;
  }

  has(path: readonly PathElement[]): boolean {
    return path.reduce<FieldSet>((set, element) => set.at(element), this).isMember;
  }

  /** Returns the same set with or without the path of this node. */
  withMember(isMember: boolean): FieldSet {
    return FieldSet.node(isMember, this.children);
  }

  union(other: FieldSet): FieldSet {
    if (this.isEmpty) return other;
    if (other.isEmpty) return this;
    const children = new Map(this.children);
    for (const [element, child] of other.children) {
      children.set(element, this.at(element).union(child));
    }
    return FieldSet.node(this.isMember || other.isMember, children);
  }

  intersection(other: FieldSet): FieldSet {
    return FieldSet.node(
      this.isMember && other.isMember,
      [...this.children].map(([element, child]) => [
        element,
        child.intersection(other.at(element)),
      ]),
    );
  }

  /** Returns the paths that are not in `other`; a path does not remove those below it. */
  difference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    return FieldSet.node(
      this.isMember && !other.isMember,
      [...this.children].map(([element, child]) => [element, child.difference(other.at(element))]),
    );
  }

  equals(other: FieldSet): boolean {
    return (
      this.isMember === other.isMember &&
      this.children.size === other.children.size &&
      [...this.children].every(([element, child]) => child.equals(other.at(element)))
    );
  }

  /** Returns every path of the set. */
  *paths(above: readonly PathElement[] = []): Generator<readonly PathElement[]> {
    if (this.isMember) yield above;
    for (const [element, child] of this.children) yield* child.paths([...above, element]);
  }
}
