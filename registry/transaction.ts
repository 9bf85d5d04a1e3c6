import { randomUUID, webcrypto } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Check, Entry, Write } from '../storage/storage.js';
import { deleteOnlyFallbackOf } from './delete-only-fallback.js';
import {
  apiVersion,
  type AnyKind,
  type Call,
  type Draft,
  type KindObject,
  type ObjectOf,
  type OwnerReference,
  type StagedWrites,
  type Transaction,
} from './kind.js';
import { digest } from '../security/keyring.js';
import { limitKey, raised, spendFrom, type Limit } from './rate-limit.js';
import { metadataSizeFaults } from './metadata-size.js';
import { outboxRow } from './outbox-row.js';
import type { Registry } from './registry.js';
import { alreadyExists, invalid, notFound, noFreeName } from './status.js';
import {
  isLive,
  encode,
  objectKey,
  encodedObjectOf,
  type EncodedObject,
} from './encoded-object.js';
import { toTimestamp } from './timestamp.js';

const letters = 'bcdfghjklmnpqrstvwxz2456789';

/** Characters for names, uniform from the CSPRNG (27 letters: rejection above 243). */
export function randomName(length: number): string {
  let name = '';
  while (name.length < length) {
    const byte = randomByte();
    if (byte < 243) name += letters[byte % 27];
  }
  return name;
}

const drawn = { bytes: new Uint8Array(1024), used: 1024 };

/** Returns a byte from the CSPRNG, which is read in blocks; each byte is used once. */
function randomByte(): number {
  if (drawn.used === drawn.bytes.length) {
    webcrypto.getRandomValues(drawn.bytes);
    drawn.used = 0;
  }
  const byte = drawn.bytes[drawn.used]!;
  drawn.used += 1;
  return byte;
}

/** Returns the key that reserves a unique value. */
export const uniqueKey = (kind: AnyKind, field: string, value: string): string =>
  `unique/${kind.resource}/${field}/${digest(value)}`;

/** Where a transaction reads: the store, or objects that were read for this request. */
export interface TransactionSource {
  get(key: string): Promise<Entry | undefined>;
  readonly known?: readonly EncodedObject[] /** Another one of the same commit, whose raw keys this one goes on from. */;
  readonly first?: StoreTransaction;
}

interface Staged {
  kind: AnyKind;
  before: EncodedObject | undefined;
  object: KindObject | undefined;
}

/** One try of a commit: what is read becomes checks, what is changed becomes writes. */
export class StoreTransaction implements Transaction {
  readonly #registry: Registry;
  readonly #source: TransactionSource;
  readonly #call: Call;
  readonly #read = new Map<string, Entry | undefined>();
  readonly #objects = new Map<string, EncodedObject>();
  readonly #staged = new Map<string, Staged>();
  readonly #raw = new Map<string, Write>();
  readonly #parts: StagedWrites[] = [];
  /** Whether another transaction of the commit took over a key after this one was finished. */
  isChanged = false;
  /** Callbacks to run after the commit. */
  readonly effects: (() => void)[] = [];

  constructor(registry: Registry, source: TransactionSource, call: Call) {
    this.#registry = registry;
    this.#source = source;
    this.#call = call;
    for (const stored of source.known ?? []) {
      this.#objects.set(stored.entry.key, stored);
      this.#read.set(stored.entry.key, stored.entry);
    }
  }

  async get<K extends AnyKind>(kind: K, name: string): Promise<ObjectOf<K> | undefined> {
    const staged = this.#staged.get(objectKey(kind, name));
    if (staged) return staged.object as ObjectOf<K> | undefined;
    return (await this.#stored(kind, name))?.object as ObjectOf<K> | undefined;
  }

  async byUnique<K extends AnyKind>(
    kind: K,
    field: string,
    value: string,
  ): Promise<ObjectOf<K> | undefined> {
    const held = await this.read(uniqueKey(kind, field, value));
    return held && this.get(kind, held.value.toString());
  }

  async create<K extends AnyKind>(kind: K, draft: Draft<ObjectOf<K>>): Promise<ObjectOf<K>> {
    const given = draft as {
      metadata: KindObject['metadata'] & { generateName?: string };
    } & KindObject;
    const name =
      given.metadata.name ??
      (await this.#freeName(kind, (given.metadata.generateName ?? '').slice(0, 58)));
    if (await this.#taken(kind, name))
      throw given.metadata.name === undefined ? noFreeName(kind, name) : alreadyExists(kind, name);
    const {
      generateName,
      labels,
      annotations,
      ownerReferences = await this.#owners(kind, given),
    } = given.metadata;
    const object: KindObject = {
      metadata: {
        name,
        ...(generateName && { generateName }),
        uid: randomUUID(),
        resourceVersion: '0',
        generation: 1,
        creationTimestamp: toTimestamp(this.#call.now),
        ...(labels && Object.keys(labels).length > 0 && { labels }),
        ...(annotations && { annotations }),
        ...(ownerReferences && { ownerReferences }),
      },
      spec: given.spec,
      status: given.status ?? {},
      internal: given.internal,
    };
    await this.#settle(kind, object, undefined);
    return object as ObjectOf<K>;
  }

  /** Returns a free name with this prefix, or after eight tries one that is taken. */
  async #freeName(kind: AnyKind, base: string): Promise<string> {
    let name = `${base}${randomName(5)}`;
    for (let tries = 1; tries < 8 && (await this.#taken(kind, name)); tries += 1)
      name = `${base}${randomName(5)}`;
    return name;
  }

  async #taken(kind: AnyKind, name: string): Promise<boolean> {
    const key = objectKey(kind, name);
    return Boolean(this.#staged.get(key)?.object ?? (await this.#entry(key)));
  }

  /**
   * Returns the ownerReference of an object that an Account owns; reads the Account only if it is
   * not at hand.
   */
  async #owners(kind: AnyKind, object: KindObject): Promise<OwnerReference[] | undefined> {
    const name = ownerName(kind, object);
    const owning = this.#registry.kinds.find(({ owner }) => owner === 'metadata.name');
    if (typeof name !== 'string' || !owning) return undefined;
    const key = objectKey(owning, name);
    const accounts = this.#call.store(owning);
    const owner =
      this.#staged.get(key)?.object ??
      (this.#read.has(key)
        ? (await this.#stored(owning, name))?.object
        : await accounts.cached(name));
    return owner && [ownerReference(owning, owner)];
  }

  async update<K extends AnyKind>(
    kind: K,
    name: string,
    change: (next: ObjectOf<K>) => void | Promise<void>,
  ): Promise<ObjectOf<K>> {
    const key = objectKey(kind, name);
    const staged = this.#staged.get(key);
    const before = staged ? staged.before : await this.#stored(kind, name);
    const next = staged ? staged.object : before?.parse();
    if (!next) throw notFound(kind, name);
    await change(next as ObjectOf<K>);
    await this.#settle(kind, next, before);
    return next as ObjectOf<K>;
  }

  async delete<K extends AnyKind>(kind: K, name: string): Promise<ObjectOf<K> | undefined> {
    const before = await this.#stored(kind, name);
    const old = before?.object;
    if (!old) return undefined;
    if (kind.strategy.beginDelete)
      return ((await kind.strategy.beginDelete(this, old, this.#call)) ?? old) as ObjectOf<K>;
    await this.#remove(kind, old, before);
    return old as ObjectOf<K>;
  }

  async erase(kind: AnyKind, name: string): Promise<void> {
    const before = await this.#stored(kind, name);
    if (before) await this.#remove(kind, before.object, before);
  }

  async #remove(kind: AnyKind, old: KindObject, before: EncodedObject): Promise<void> {
    this.#staged.set(objectKey(kind, old.metadata.name), { kind, before, object: undefined });
    await this.#claim(kind, undefined, old);
    await kind.strategy.beforeCommit?.(this, undefined, old, this.#call);
  }

  async enqueue(
    worker: string,
    payload: unknown,
    until: number,
    options: { id?: string; notBefore?: number } = {},
  ): Promise<void> {
    const row = outboxRow(this.#call.keys, worker, payload, {
      until,
      id: options.id ?? randomUUID(),
      notBefore: options.notBefore ?? this.#call.now,
    });
    this.#raw.set(row.put, row);
  }

  async spend(limit: Limit, subject: string): Promise<void> {
    const key = limitKey(limit, subject);
    const pending = this.#raw.get(key);
    const held = pending && 'put' in pending ? pending.value : (await this.#entry(key))?.value;
    const { value, expires } = spendFrom(
      raised(limit, this.#call.settings.limitFactor),
      held,
      this.#call.now,
    );
    this.write(key, value, expires);
  }

  add(part: StagedWrites): void {
    this.#parts.push(part);
  }
  after(effect: () => void): void {
    this.effects.push(effect);
  }

  async read(key: string): Promise<{ value: Buffer; expires?: number } | undefined> {
    const pending = this.#raw.get(key) ?? this.#source.first?.takeOver(key);
    if (pending) return 'put' in pending ? pending : undefined;
    return this.#entry(key);
  }

  /**
   * Returns this transaction's write of a raw key and drops it, because the other transaction
   * writes the key now: a commit writes a key once.
   */
  takeOver(key: string): Write | undefined {
    const pending = this.#raw.get(key);
    if (this.#raw.delete(key)) this.isChanged = true;
    return pending;
  }

  write(key: string, value: Buffer, expires?: number): void {
    this.#raw.set(key, { put: key, value, ...(expires !== undefined && { expires }) });
  }
  remove(key: string): void {
    this.#raw.set(key, { delete: key });
  }

  /** Returns the checks and writes of the commit, and the objects that get its revision. */
  finish(): { part: StagedWrites; written: KindObject[] } {
    const checks: Check[] = [...this.#read].map(([key, entry]) => ({
      key,
      is: entry ? entry.revision : 'absent',
    }));
    const writes: Write[] = [...this.#raw.values()];
    const written: KindObject[] = [];
    for (const [key, { kind, before, object }] of this.#staged) {
      if (!object) {
        if (before) writes.push({ delete: key });
        continue;
      }
      const framed = encode(kind, object);
      if (before?.equals(framed)) continue;
      const expires = kind.expires?.(object);
      writes.push({ put: key, value: framed, ...(expires !== undefined && { expires }) });
      written.push(object);
    }
    const bare = deleteOnlyFallbackOf([{ checks, writes: [...writes] }, ...this.#parts]);
    const deleted = new Set(writes.flatMap((write) => ('delete' in write ? [write.delete] : [])));
    for (const part of this.#parts) {
      checks.push(...part.checks.filter((check) => !this.#read.has(check.key)));
      for (const write of part.writes) {
        if ('delete' in write && deleted.has(write.delete)) continue;
        if ('delete' in write) deleted.add(write.delete);
        writes.push(write);
      }
    }
    return { part: { checks, writes, ...(bare && { deleteOnlyFallback: bare }) }, written };
  }

  async #entry(key: string): Promise<Entry | undefined> {
    if (this.#read.has(key)) return this.#live(key);
    const entry = await this.#source.get(key);
    this.#read.set(key, entry);
    return this.#live(key);
  }

  /** Returns the entry that was read, unless it has expired; the commit checks it either way. */
  #live(key: string): Entry | undefined {
    const entry = this.#read.get(key);
    return isLive(entry, this.#call.now) ? entry : undefined;
  }

  async #stored(kind: AnyKind, name: string): Promise<EncodedObject | undefined> {
    const key = objectKey(kind, name);
    const entry = await this.#entry(key);
    if (!entry) return undefined;
    let stored = this.#objects.get(key);
    if (!stored) {
      stored = encodedObjectOf(kind, entry);
      this.#objects.set(key, stored);
    }
    return stored;
  }

  /**
   * Runs the hooks of every write in order: default, validate, generation, beforeCommit, unique
   * values.
   */
  async #settle(kind: AnyKind, next: KindObject, before: EncodedObject | undefined): Promise<void> {
    const old = before?.object;
    const call = this.#call;
    kind.strategy.default?.(next, old, call);
    const causes = this.#registry.schemas(kind).spec.check(next.spec, 'spec');
    const changed = !old || !isDeepStrictEqual(old.spec, next.spec);
    if (!changed) next.spec = old.spec;
    if (causes.length === 0) causes.push(...(kind.strategy.validate?.(next, old, call) ?? []));
    if (causes.length === 0) causes.push(...metadataSizeFaults(kind, next, old, call));
    if (causes.length > 0) throw invalid(kind, next.metadata.name, causes);
    if (old) next.metadata.generation = old.metadata.generation + (changed ? 1 : 0);
    this.#staged.set(objectKey(kind, next.metadata.name), { kind, before, object: next });
    await kind.strategy.beforeCommit?.(this, next, old, call);
    await this.#claim(kind, next, old);
  }

  async #claim(
    kind: AnyKind,
    next: KindObject | undefined,
    old: KindObject | undefined,
  ): Promise<void> {
    for (const [field, of] of Object.entries(kind.unique)) {
      const held = valuesOf(old && of(old));
      const wanted = valuesOf(next && of(next));
      for (const value of held) if (!wanted.has(value)) this.remove(uniqueKey(kind, field, value));
      for (const value of wanted) if (!held.has(value)) await this.#take(kind, field, value, next!);
    }
  }

  async #take(kind: AnyKind, field: string, value: string, next: KindObject): Promise<void> {
    const key = uniqueKey(kind, field, value);
    const taken = await this.#entry(key);
    if (taken && taken.value.toString() !== next.metadata.name)
      throw alreadyExists(kind, next.metadata.name, field);
    this.write(key, Buffer.from(next.metadata.name), kind.expires?.(next));
  }
}

const valuesOf = (values: string | readonly string[] | undefined): ReadonlySet<string> =>
  new Set(typeof values === 'string' ? [values] : values);

/** Returns the name of the Account that owns an object, if the kind is owned. */
function ownerName({ owner }: AnyKind, { spec, status }: KindObject): unknown {
  if (owner === 'spec.account') return spec.account;
  return owner === 'status.account' ? status?.account : undefined;
}

/** Returns an ownerReference (docs/design/kubernetes.md#metadata). */
export const ownerReference = ({ kind }: AnyKind, { metadata }: KindObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
});
