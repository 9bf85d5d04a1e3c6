import { isDeepStrictEqual } from 'node:util';
import type { AnyKind, KindObject, OwnerReference } from '../../kind.js';
import { finalizersOf, foregroundDeletion, orphan } from '../lifecycle/finalizers.js';

/**
 * Where an object is in its life. `Foreground` waits until its dependents are gone, `Orphan` until they
 * have lost their references to it, `Deleting` for other finalizers alone.
 */
type LifeState = 'Live' | 'Foreground' | 'Orphan' | 'Deleting';

/** A reference to an owner that this server serves. */
interface GraphEdge {
  /** `keyOf` of the owner. */
  readonly key: string;
  readonly uid: string;
  /** Whether a deletion of the owner in the foreground waits for the dependent. */
  readonly isBlocking: boolean;
}

/** What is kept in memory of an object. */
export interface GraphNode {
  /** `keyOf` of the object. */
  readonly key: string;
  readonly uid: string;
  readonly state: LifeState;
  readonly owners: readonly GraphEdge[];
}

/** Returns what names an object among those of all kinds; `name` is as `namespacedName` has it. */
export const keyOf = ({ storageName }: AnyKind, name: string): string => `${storageName}/${name}`;

/** Returns where an object is in its life. */
export function stateOf(object: KindObject): LifeState {
  if (object.metadata.deletionTimestamp === undefined) return 'Live';
  const finalizers = finalizersOf(object);
  if (finalizers.includes(foregroundDeletion)) return 'Foreground';
  return finalizers.includes(orphan) ? 'Orphan' : 'Deleting';
}

/**
 * Returns the owner references that count, without one to the object itself. What belongs to an account
 * goes with it by its name.
 */
export const referencesOf = (kind: AnyKind, { metadata }: KindObject): readonly OwnerReference[] =>
  kind.owner ? [] : (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== metadata.uid);

const none: ReadonlySet<string> = new Set();

/** What an owner is known by. */
type OwnerNode = Pick<GraphNode, 'key' | 'uid'>;

const isSame = (one: OwnerNode, other: OwnerNode): boolean =>
  one.key === other.key && one.uid === other.uid;

/** Objects and their owners, as the watch cache has them: says what to look at in the store. */
export class DependencyGraph {
  readonly #byKey = new Map<string, GraphNode>();
  readonly #byUid = new Map<string, GraphNode>();
  readonly #dependents = new Map<string, Map<string, GraphNode>>();

  get nodes(): Iterable<GraphNode> {
    return this.#byKey.values();
  }

  /** Returns the objects that name an owner, as far as that counts: by its key and its uid. */
  dependentsOf(owner: OwnerNode): GraphNode[] {
    return this.#naming(owner.uid).filter(({ owners }) => owners.some((one) => isSame(one, owner)));
  }

  /** Whether a deletion of an object in the foreground has to wait, as far as is known here. */
  isBlocked(owner: OwnerNode): boolean {
    return this.dependentsOf(owner).some(({ owners }) =>
      owners.some((one) => isSame(one, owner) && one.isBlocking),
    );
  }

  #naming(uid: string): GraphNode[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }

  /** Replaces an object. Returns the keys of those that its change may concern, and its own. */
  update(before: GraphNode | undefined, after: GraphNode | undefined): ReadonlySet<string> {
    if (isDeepStrictEqual(before, after)) return none;
    if (before) this.#remove(before);
    if (after) this.#add(after);
    const concerned = [before, after].flatMap((node) => {
      if (!node) return [];
      const owners = node.owners.map(({ uid }) => this.#byUid.get(uid));
      return [node, ...owners, ...this.#naming(node.uid)];
    });
    return new Set(concerned.flatMap((node) => (node ? [node.key] : [])));
  }

  /** Whether the collector has something to do for an object, as far as is known here. */
  isDue(key: string): boolean {
    const node = this.#byKey.get(key);
    if (!node || node.state === 'Deleting') return false;
    if (node.state !== 'Live') return true;
    return node.owners.some((reference) => {
      const owner = this.#byUid.get(reference.uid);
      return owner?.key !== reference.key || owner.state === 'Foreground';
    });
  }

  #add(node: GraphNode): void {
    this.#byKey.set(node.key, node);
    this.#byUid.set(node.uid, node);
    for (const { uid } of node.owners) {
      const dependents = this.#dependents.get(uid) ?? new Map<string, GraphNode>();
      this.#dependents.set(uid, dependents.set(node.key, node));
    }
  }

  #remove({ key, uid, owners }: GraphNode): void {
    this.#byKey.delete(key);
    this.#byUid.delete(uid);
    for (const owner of owners) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(key);
      if (dependents?.size === 0) this.#dependents.delete(owner.uid);
    }
  }
}
