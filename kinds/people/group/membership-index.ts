import type { ObjectOf } from '../../../registry/kind.js';
import { Informer } from '../../../registry/store/informer.js';
import type { Store } from '../../../registry/store/store.js';
import { canonicalAddress } from '../../signin/email-address.js';
import { Group, membersAt, nextEnd, operators } from './group.js';

type GroupObject = ObjectOf<typeof Group>;

const noGroups: readonly string[] = [];
const noAddresses: ReadonlySet<string> = new Set();

/** The longest time that a timer of Node can wait, in milliseconds. */
const maxTimerMs = 2 ** 31 - 1;

/** The most Groups of one person that a commit checks: a commit has a limit of checks. */
const maxChecked = 32;

/**
 * Returns the Groups of a person that a commit checks: `operators` first, and no more than the commit
 * has room for.
 */
export const checkedGroups = (groups: readonly string[]): readonly string[] =>
  groups.length <= maxChecked
    ? groups
    : [
        ...groups.filter((name) => name === operators),
        ...groups.filter((name) => name !== operators),
      ].slice(0, maxChecked);

/**
 * An index of the groups of each address, updated from the watch cache, so that requests do not
 * read the store.
 */
export class Memberships {
  readonly #named: ReadonlySet<string>;
  #isListed = false;
  #version = 0;
  readonly #groups = new Map<string, readonly string[]>();
  /** Groups with temporary members, by name. */
  readonly #temporary = new Map<string, GroupObject>();
  /** The addresses of each group that are members now. */
  readonly #current = new Map<string, ReadonlySet<string>>();
  #timer: NodeJS.Timeout | undefined;
  #nextEnd = Infinity;
  readonly #listeners: (() => void)[] = [];
  readonly #informer: Informer<typeof Group>;

  /**
   * `named` are the addresses that count as members of Group `operators` while it is empty or
   * absent (docs/design/api.md#operators).
   */
  constructor(store: Store, named: readonly string[]) {
    this.#named = new Set(named.map(canonicalAddress));
    this.#informer = new Informer(store, Group, (before, after) => this.#update(before, after));
  }

  /** Loads all groups and follows them; call it after the watch cache has started. */
  start(): Promise<void> {
    return this.#informer.start();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#informer.stop();
  }

  /** Calls `listener` after every change of a Group, and when a membership ends. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Increments with every change of a Group, and when a membership ends. */
  get version(): number {
    this.#endMemberships();
    return this.#version;
  }

  /** Returns the sorted names of an address's groups, or undefined if the index may be stale. */
  cachedGroupsOf(address: string): readonly string[] | undefined {
    return this.#informer.isFresh ? this.#cachedOf(canonicalAddress(address)) : undefined;
  }

  /** Returns the sorted names of an address's groups as of the last change that was received. */
  indexedGroupsOf(address: string): readonly string[] {
    return this.#cachedOf(canonicalAddress(address));
  }

  /**
   * Returns the sorted names of an address's groups; waits for the index or reads the store if it
   * is stale.
   */
  async groupsOf(address: string): Promise<readonly string[]> {
    const at = canonicalAddress(address);
    if (this.#informer.isFresh || (await this.#informer.waitUntilFresh())) {
      return this.#cachedOf(at);
    }
    const groups = await this.#informer.latest();
    const found = groups.filter(({ spec }) => membersAt(spec, Date.now()).has(at));
    return this.#withNamed(
      at,
      found.map(({ metadata }) => metadata.name).sort(),
      groups.some(listsOperators),
    );
  }

  /**
   * Returns the addresses of a group, each with all its groups; waits or reads the store if the
   * index is stale.
   */
  async members(
    group: string,
  ): Promise<{ readonly address: string; readonly groups: readonly string[] }[]> {
    const latest =
      this.#informer.isFresh || (await this.#informer.waitUntilFresh())
        ? undefined
        : await this.#informer.latest();
    this.#endMemberships();
    const [groups, isListed] = latest
      ? [indexOf(latest), latest.some(listsOperators)]
      : [this.#groups, this.#isListed];
    const people = [...new Set([...groups.keys(), ...this.#named])].map((address) => ({
      address,
      groups: this.#withNamed(address, groups.get(address) ?? noGroups, isListed),
    }));
    return people.filter((membership) => membership.groups.includes(group));
  }

  #cachedOf(address: string): readonly string[] {
    this.#endMemberships();
    return this.#withNamed(address, this.#groups.get(address) ?? noGroups);
  }

  #withNamed(
    address: string,
    groups: readonly string[],
    isListed = this.#isListed,
  ): readonly string[] {
    return !isListed && this.#named.has(address) ? [...groups, operators].sort() : groups;
  }

  #update(before: GroupObject | undefined, after: GroupObject | undefined): void {
    const { name } = (after ?? before)!.metadata;
    this.#endMemberships(); // What ended by now would not be among those that are scheduled.
    if (name === operators) this.#isListed = after !== undefined && listsOperators(after);
    if (after?.spec.temporaryMembers?.length) {
      this.#temporary.set(name, after);
    } else {
      this.#temporary.delete(name);
    }
    this.#setMembers(name, after ? membersAt(after.spec, Date.now()) : noAddresses);
    this.#schedule();
  }

  #setMembers(name: string, now: ReadonlySet<string>): void {
    this.#version += 1;
    const old = this.#current.get(name) ?? noAddresses;
    if (now.size > 0) {
      this.#current.set(name, now);
    } else {
      this.#current.delete(name);
    }
    for (const address of old) {
      if (!now.has(address)) {
        this.#setGroups(
          address,
          (this.#groups.get(address) ?? noGroups).filter((group) => group !== name),
        );
      }
    }
    for (const address of now) {
      if (!old.has(address)) {
        this.#setGroups(address, [...(this.#groups.get(address) ?? noGroups), name].sort());
      }
    }
    for (const listener of this.#listeners) listener();
  }

  /** Ends memberships whose time is over, by the clock of this replica. */
  #endMemberships(now = Date.now()): void {
    if (now < this.#nextEnd) return;
    for (const [name, { spec }] of this.#temporary) {
      const current = membersAt(spec, now);
      if (current.size !== (this.#current.get(name) ?? noAddresses).size) {
        this.#setMembers(name, current);
      }
    }
    this.#schedule();
  }

  /** Notes when the next membership ends, and wakes up then. */
  #schedule(): void {
    clearTimeout(this.#timer);
    const now = Date.now();
    this.#nextEnd = Math.min(
      Infinity,
      ...[...this.#temporary.values()].map(({ spec }) => nextEnd(spec, now)),
    );
    if (this.#nextEnd === Infinity) return;
    const delayMs = Math.min(this.#nextEnd - now, maxTimerMs);
    this.#timer = setTimeout(() => {
      this.#endMemberships();
      this.#schedule();
    }, delayMs).unref();
  }

  #setGroups(address: string, groups: readonly string[]): void {
    if (groups.length > 0) {
      this.#groups.set(address, groups);
    } else {
      this.#groups.delete(address);
    }
  }
}

const listsOperators = ({ metadata, spec }: GroupObject): boolean =>
  metadata.name === operators && spec.members.length > 0;

function indexOf(sources: readonly GroupObject[]): Map<string, readonly string[]> {
  const groups = new Map<string, readonly string[]>();
  for (const group of sources) {
    for (const address of membersAt(group.spec, Date.now())) {
      groups.set(address, [...(groups.get(address) ?? noGroups), group.metadata.name].sort());
    }
  }
  return groups;
}
