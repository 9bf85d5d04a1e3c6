import type { ObjectOf } from '../../registry/kind.js';
import { Informer } from '../../registry/informer.js';
import type { Store } from '../../registry/store.js';
import { canonical } from '../signin/email-address.js';
import { Group, operators } from './group.js';

type GroupObject = ObjectOf<typeof Group>;

const none: readonly string[] = [];

/**
 * Which groups an address is in: an index kept by the watch cache, so that no request reads the store for
 * it.
 */
export class Memberships {
  readonly #named: ReadonlySet<string>;
  #isListed = false;
  #version = 0;
  readonly #groups = new Map<string, readonly string[]>();
  readonly #mirror: Informer<typeof Group>;

  /**
   * `named` are addresses that stand in for the members of Group `operators` while it lists no one,
   * or is not there (docs/design/api.md#operators).
   */
  constructor(store: Store, named: readonly string[]) {
    this.#named = new Set(named.map(canonical));
    this.#mirror = new Informer(store, Group, (before, after) => this.#moved(before, after));
  }

  /** Loads all groups and follows them; after the watch cache has begun. */
  start(): Promise<void> {
    return this.#mirror.start();
  }

  stop(): void {
    this.#mirror.stop();
  }

  /** Changes with every Group. */
  get version(): number {
    return this.#version;
  }

  /**
   * The names of an address' groups in order, or undefined where memory cannot be trusted at this
   * moment.
   */
  held(address: string): readonly string[] | undefined {
    return this.#mirror.isFresh ? this.#of(canonical(address)) : undefined;
  }

  /** The same, waiting where it must. */
  async of(address: string): Promise<readonly string[]> {
    const at = canonical(address);
    if (this.#mirror.isFresh || (await this.#mirror.waitUntilFresh())) return this.#of(at);
    const all = await this.#mirror.latest();
    const found = all.filter(({ spec }) => spec.members.some((member) => canonical(member) === at));
    return this.#withNamed(
      at,
      found.map(({ metadata }) => metadata.name).sort(),
      all.some(listsOperators),
    );
  }

  /** The addresses in a group, each with all the groups it is in; waiting where it must. */
  async members(
    group: string,
  ): Promise<{ readonly address: string; readonly groups: readonly string[] }[]> {
    const latest =
      this.#mirror.isFresh || (await this.#mirror.waitUntilFresh())
        ? undefined
        : await this.#mirror.latest();
    const [groups, isListed] = latest
      ? [indexOf(latest), latest.some(listsOperators)]
      : [this.#groups, this.#isListed];
    const all = [...new Set([...groups.keys(), ...this.#named])].map((address) => ({
      address,
      groups: this.#withNamed(address, groups.get(address) ?? none, isListed),
    }));
    return all.filter((one) => one.groups.includes(group));
  }

  #of(address: string): readonly string[] {
    return this.#withNamed(address, this.#groups.get(address) ?? none);
  }

  #withNamed(
    address: string,
    groups: readonly string[],
    isListed = this.#isListed,
  ): readonly string[] {
    return !isListed && this.#named.has(address) ? [...groups, operators].sort() : groups;
  }

  #moved(before: GroupObject | undefined, after: GroupObject | undefined): void {
    this.#version += 1;
    const { name } = (after ?? before)!.metadata;
    if (name === operators) this.#isListed = after !== undefined && listsOperators(after);
    const [old, now] = [membersOf(before), membersOf(after)];
    for (const address of old)
      if (!now.has(address))
        this.#put(
          address,
          (this.#groups.get(address) ?? none).filter((group) => group !== name),
        );
    for (const address of now)
      if (!old.has(address))
        this.#put(address, [...(this.#groups.get(address) ?? none), name].sort());
  }

  #put(address: string, groups: readonly string[]): void {
    if (groups.length > 0) this.#groups.set(address, groups);
    else this.#groups.delete(address);
  }
}

const membersOf = (group: GroupObject | undefined): ReadonlySet<string> =>
  new Set(group?.spec.members.map(canonical));

const listsOperators = ({ metadata, spec }: GroupObject): boolean =>
  metadata.name === operators && spec.members.length > 0;

function indexOf(all: readonly GroupObject[]): Map<string, readonly string[]> {
  const groups = new Map<string, readonly string[]>();
  for (const group of all)
    for (const address of membersOf(group))
      groups.set(address, [...(groups.get(address) ?? none), group.metadata.name].sort());
  return groups;
}
