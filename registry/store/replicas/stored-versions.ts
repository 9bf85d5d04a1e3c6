import { isDeepStrictEqual } from 'node:util';
import {
  type Entry,
  type Revision,
  type Storage,
  startAfter,
  type Write,
} from '../../../storage/storage.js';
import { EncodedObject, encode, objectsRange } from '../../encoded-object.js';
import type { AnyKind } from '../../kind.js';
import { jsonValue } from '../../schema/json-value.js';
import { byPriority } from '../../versions/kind-view.js';
import type { ApiGroup } from '../api-group.js';
import type { Registry } from '../registry.js';

/** Where the versions of a group in a store are recorded. */
const keyOf = ({ name, hasQualifiedKeys }: ApiGroup): string =>
  hasQualifiedKeys ? `meta/stored-versions/${name}` : 'meta/stored-versions';
/** Objects that are rewritten in one commit. */
const pageSize = 100;

interface VersionsRecord {
  /** The version in which every replica writes. */
  readonly written: string;
  /** The versions that objects may have. */
  readonly present: readonly string[];
}

/** What a replica says of versions: those that it reads, and the one that it writes. */
export interface ReplicaVersions {
  readonly read: readonly string[];
  readonly written: string;
}

/**
 * The versions in which the objects of a group are written (docs/design/versions.md#stored). The record
 * is in the store: all replicas write the same version, and none that cannot read one starts.
 */
export class StoredVersions {
  readonly #storage: Storage;
  readonly #registry: Registry;
  readonly #group: ApiGroup;
  readonly #key: string;
  /** The version of this release. */
  readonly #own: string;
  #record: VersionsRecord;
  #revision: Revision | undefined;

  private constructor(storage: Storage, registry: Registry, group: ApiGroup) {
    this.#storage = storage;
    this.#registry = registry;
    this.#group = group;
    this.#key = keyOf(group);
    this.#own = group.storedVersion;
    this.#record = { written: this.#own, present: [this.#own] };
  }

  /**
   * Reads the record of a group, by default of the first one, or makes one, and writes what it says from
   * then on. Throws if objects
   * may have a version that this release does not read.
   */
  static async open(
    storage: Storage,
    registry: Registry,
    group: ApiGroup = registry.mainGroup,
  ): Promise<StoredVersions> {
    const versions = new StoredVersions(storage, registry, group);
    await versions.refresh();
    if (versions.#revision !== undefined) return versions;
    const read = versions.#read;
    // Releases before the record wrote the oldest version, and may still run.
    await versions.#put(
      (await versions.#hasObjects())
        ? { written: read.at(-1)!, present: [...read].sort() }
        : versions.#record,
    );
    if (versions.#revision === undefined) await versions.refresh(); // another replica was first
    return versions;
  }

  /** The name of the group. */
  get group(): string {
    return this.#group.name;
  }

  /** What this replica says of versions. */
  get own(): ReplicaVersions {
    return { read: this.#read, written: this.#group.storedVersion };
  }

  get #read(): string[] {
    return this.#group.versions.map(({ version }) => version);
  }

  /** The newer one of the version of this release and the one that is written: it never goes back. */
  get #target(): string {
    const { written } = this.#record;
    return byPriority(this.#own, written) < 0 ? this.#own : written;
  }

  /** Whether all objects have one version, which this release or a newer one writes. */
  get isUniform(): boolean {
    return isDeepStrictEqual(this.#record, { written: this.#target, present: [this.#target] });
  }

  /** Reads the record again; throws if objects may have a version that this release does not read. */
  async refresh(): Promise<void> {
    const { entry } = await this.#storage.get(this.#key);
    if (!entry) return;
    const record = jsonValue<VersionsRecord>(entry);
    const unknown = record.present.find((version) => !this.#read.includes(version));
    if (unknown !== undefined) {
      throw new Error(
        `the store has objects of version ${unknown}, and this release reads ${this.#read.join(' and ')}: ` +
          `start a release that reads it, and run "migrate" with that`,
      );
    }
    this.#record = record;
    this.#revision = entry.revision;
    this.#group.storedVersion = record.written;
  }

  /**
   * Goes a step towards objects that all have the version of the newest release: writes in it if all
   * replicas read it, and rewrites the others if all write it. Returns the number of rewritten objects.
   */
  async advance(replicas: readonly ReplicaVersions[], signal?: AbortSignal): Promise<number> {
    await this.refresh();
    const target = this.#target;
    if (this.#record.written !== target) {
      if (replicas.some(({ read }) => !read.includes(target))) return 0;
      const present = new Set([...this.#record.present, target]);
      await this.#put({ written: target, present: [...present].sort() });
    }
    if (this.#record.written !== target || this.isUniform) return 0;
    if (replicas.some(({ written }) => written !== target)) return 0;
    const count = await this.#rewrite(signal);
    if (!signal?.aborted) await this.#put({ written: target, present: [target] });
    return count;
  }

  /** Writes the record, unless another replica has written it since it was read. */
  async #put(record: VersionsRecord): Promise<void> {
    const check = { key: this.#key, is: this.#revision ?? ('absent' as const) };
    const value = Buffer.from(JSON.stringify(record));
    const outcome = await this.#storage.commit([check], [{ put: this.#key, value }]);
    if (!outcome.committed) return;
    this.#record = record;
    this.#revision = outcome.revision;
    this.#group.storedVersion = record.written;
  }

  async #hasObjects(): Promise<boolean> {
    for (const kind of this.#group.kinds) {
      const { entries } = await this.#storage.list(objectsRange(kind), { limit: 1 });
      if (entries.length > 0) return true;
    }
    return false;
  }

  async #rewrite(signal: AbortSignal | undefined): Promise<number> {
    let count = 0;
    for (const kind of this.#group.kinds) {
      for await (const entries of this.#pages(kind)) {
        if (signal?.aborted) return count;
        count += await this.#rewritePage(kind, entries);
      }
    }
    return count;
  }

  async *#pages(kind: AnyKind): AsyncGenerator<readonly Entry[]> {
    const { start: first, end } = objectsRange(kind);
    for (let start = first; ; ) {
      const { entries, more } = await this.#storage.list({ start, end }, { limit: pageSize });
      yield entries;
      if (more === 0) return;
      start = startAfter(entries);
    }
  }

  /** Rewrites the objects of a page that have another version; those that change in between are new. */
  async #rewritePage(kind: AnyKind, entries: readonly Entry[]): Promise<number> {
    const view = this.#registry.storedView(kind);
    const old = entries
      .map((entry) => new EncodedObject(kind, entry))
      .filter((object) => object.storedVersion !== view.version);
    const writes = old.map((object): Write => {
      const { key: put, expires } = object.entry;
      const value = encode(view, object.parse());
      return { put, value, ...(expires !== undefined && { expires }) };
    });
    const isWritten = async (from: number, to: number): Promise<boolean> => {
      const checks = old
        .slice(from, to)
        .map(({ entry }) => ({ key: entry.key, is: entry.revision }));
      return (await this.#storage.commit(checks, writes.slice(from, to))).committed;
    };
    if (old.length === 0 || (await isWritten(0, old.length))) return old.length;
    let count = 0;
    for (const i of old.keys()) if (await isWritten(i, i + 1)) count += 1;
    return count;
  }
}
