import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  type Check,
  type Entry,
  type Page,
  type Range,
  type RangeCheck,
  limits as storeLimits,
  type Write,
} from '../../storage/storage.js';
import type { OutcomeAuthorizer } from '../call-facts.js';
import {
  type EncodedObject,
  encodedObjectOf,
  isLive,
  objectKey,
  objectsRange,
  uniqueKey,
} from '../encoded-object.js';
import type { FieldTracker } from '../field-tracker.js';
import type {
  AnyKind,
  Awaitable,
  Call,
  Decision,
  Draft,
  KindObject,
  ObjectOf,
  OwnerReference,
  PropagationPolicy,
  RawValue,
  StagedWrites,
  Transaction,
} from '../kind.js';
import { addUse, type Limit, limitKey, scaleLimit } from '../limits/rate-limit.js';
import { updatesBy } from '../managedfields/update.js';
import { ownerName, ownerReference } from '../owner-reference.js';
import { namespacedName, plainName } from '../schema/namespaced-name.js';
import { alreadyExists, noFreeName, notFound, type StatusError } from '../status/status.js';
import {
  finalizerFaults,
  finalizersOnDelete,
  isFinalized,
  keepForFinalizers,
  withoutFinalizers,
} from './lifecycle/finalizers.js';
import { mergeParts } from './lifecycle/merge-parts.js';
import { newMetadata } from './lifecycle/new-metadata.js';
import { type StagedObject, stagedWrites } from './lifecycle/staged-writes.js';
import { throwFaults } from './lifecycle/throw-faults.js';
import { updateDerivedRows } from './lifecycle/unique-values.js';
import { metadataSizeFaults } from './metadata-size.js';
import { outboxRow } from './outbox-row.js';
import { freeName } from './random-name.js';
import type { Registry } from './registry.js';
import { takeSecrets, withSecretMarks } from './secret-fields.js';
import { setDefaults } from './set-defaults.js';

/** The source of a transaction's reads: the store, or objects that were read for this request. */
export interface TransactionSource {
  get(key: string): Promise<Entry | undefined>;
  list(range: Range): Promise<Page>;
  /** Whether something came from a cache so far, so that a failed try is made again. */
  isCached?(): boolean;
  readonly known?: readonly EncodedObject[];
  /** Another transaction of the same commit, whose raw keys this one continues from. */
  readonly continues?: StoreTransaction;
}

/** The work of one try of a commit. */
export type Work<T> = (tx: StoreTransaction) => Promise<T>;

/** One try of a commit: what is read becomes checks, what is changed becomes writes. */
export class StoreTransaction implements Transaction {
  readonly #registry: Registry;
  readonly #source: TransactionSource;
  readonly #call: Call;
  readonly #read = new Map<string, Entry | undefined>();
  /** What was listed, by the beginning of the range. */
  readonly #listed = new Map<string, RangeCheck>();
  readonly #objects = new Map<string, EncodedObject>();
  readonly #staged = new Map<string, StagedObject>();
  readonly #rawWrites = new Map<string, Write>();
  readonly #parts: StagedWrites[] = [];
  /** Whether another transaction of the commit took over a key after this one was finished. */
  hasLostKeys = false;
  /** Tracks changes by this service itself. */
  readonly #ownTracker = updatesBy(() => this.#call.settings.component);
  /** Callbacks to run after the commit. */
  readonly effects: (() => void)[] = [];
  /** The decision about what the transaction makes; replaces that of the request in the record. */
  decision: Decision | undefined;

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
    const reserved = await this.read(uniqueKey(kind, field, value));
    return reserved && this.get(kind, reserved.value.toString());
  }

  async list<K extends AnyKind>(
    kind: K,
    matches: (object: any) => boolean = () => true,
    part?: string,
  ): Promise<ObjectOf<K>[]> {
    const { start: key, end } = objectsRange(kind, part);
    const { entries, revision: is } = await this.#source.list({ start: key, end });
    if (!this.#listed.has(key)) this.#listed.set(key, { key, end, is });
    const own = [...this.#staged].filter(([staged]) => staged >= key && staged < end);
    const found = own.flatMap(([, { object }]) => (object && matches(object) ? [object] : []));
    for (const entry of entries) {
      if (this.#staged.has(entry.key) || !isLive(entry, this.#call.now)) continue;
      const { object } = encodedObjectOf(kind, entry);
      if (!matches(object)) continue;
      if (!this.#read.has(entry.key)) this.#read.set(entry.key, entry);
      found.push(object);
    }
    return found as ObjectOf<K>[];
  }

  async create<K extends AnyKind>(
    kind: K,
    draft: Draft<ObjectOf<K>>,
    tracker = this.#ownTracker,
  ): Promise<ObjectOf<K>> {
    const input = draft as {
      metadata: KindObject['metadata'] & { generateName?: string };
    } & KindObject;
    const { namespace } = input.metadata;
    const isTaken = (name: string) => this.#isTaken(kind, namespacedName({ namespace, name }));
    const given = input.metadata.name;
    const name = given ?? (await freeName(input.metadata.generateName, isTaken));
    const fault = given === undefined ? noFreeName : alreadyExists;
    const taken = (await isTaken(name)) ? fault(kind, name) : undefined;
    const { ownerReferences = await this.#ownerReferences(kind, input) } = input.metadata;
    const metadata = { ...input.metadata, ...(ownerReferences && { ownerReferences }) };
    const object: KindObject = {
      metadata: newMetadata(kind, name, metadata, this.#call),
      spec: input.spec,
      status: input.status ?? {},
      internal: input.internal,
    };
    await this.#runHooks(kind, object, undefined, tracker, taken);
    return object as ObjectOf<K>;
  }

  async #isTaken(kind: AnyKind, name: string): Promise<boolean> {
    const key = objectKey(kind, name);
    return Boolean(this.#staged.get(key)?.object ?? (await this.#entry(key)));
  }

  /**
   * Returns the ownerReference of an object that an Account owns. Reads the Account only if it is
   * not cached.
   */
  async #ownerReferences(kind: AnyKind, object: KindObject): Promise<OwnerReference[] | undefined> {
    const name = ownerName(kind, object);
    const ownerKind = this.#registry.kinds.find(({ owner }) => owner === 'metadata.name');
    if (typeof name !== 'string' || !ownerKind) return undefined;
    const key = objectKey(ownerKind, name);
    const accounts = this.#call.store(ownerKind);
    const owner =
      this.#staged.get(key)?.object ??
      (this.#read.has(key)
        ? (await this.#stored(ownerKind, name))?.object
        : await accounts.cached(name));
    return owner && [ownerReference(ownerKind, owner)];
  }

  async update<K extends AnyKind>(
    kind: K,
    name: string,
    change: (next: ObjectOf<K>) => Awaitable<void>,
    tracker = this.#ownTracker,
  ): Promise<ObjectOf<K>> {
    const key = objectKey(kind, name);
    const staged = this.#staged.get(key);
    const before = staged ? staged.before : await this.#stored(kind, name);
    const next = staged ? staged.object : before?.parse();
    if (!next) throw notFound(kind, plainName(name));
    await change(next as ObjectOf<K>);
    await this.#runHooks(kind, next, before, tracker);
    return next as ObjectOf<K>;
  }

  async delete<K extends AnyKind>(
    kind: K,
    name: string,
    propagationPolicy?: PropagationPolicy,
  ): Promise<ObjectOf<K> | undefined> {
    const before = await this.#stored(kind, name);
    return before && ((await this.#delete(kind, before, propagationPolicy)) as ObjectOf<K>);
  }

  async #delete(
    kind: AnyKind,
    before: EncodedObject,
    policy: PropagationPolicy | undefined,
  ): Promise<KindObject | undefined> {
    const { object: old, entry } = before;
    const { beginDelete, beforeCommit } = kind.strategy;
    if (beginDelete) return (await beginDelete(this, old, this.#call)) ?? old;
    const staged = this.#staged.get(entry.key);
    if (staged && !staged.object) return undefined;
    const current = staged?.object ?? before.parse();
    const finalizers = finalizersOnDelete(kind, current, policy);
    if (finalizers.length === 0) {
      await this.#remove(kind, before);
      return withoutFinalizers(old);
    }
    keepForFinalizers(current, finalizers, this.#call.now);
    if (isDeepStrictEqual(current, old)) return current;
    this.#staged.set(entry.key, { kind, before, object: current });
    await beforeCommit?.(this, current, old, this.#call);
    return current;
  }

  async erase(kind: AnyKind, name: string): Promise<void> {
    const before = await this.#stored(kind, name);
    if (before) await this.#remove(kind, before);
  }

  async #remove(kind: AnyKind, before: EncodedObject): Promise<void> {
    const old = before.object;
    this.#staged.set(before.entry.key, { kind, before, object: undefined });
    await updateDerivedRows(this, kind, { next: undefined, old }, this.#call.settings.limits);
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
    this.#rawWrites.set(row.put, row);
  }

  async spend(limit: Limit, subject: string): Promise<void> {
    const key = limitKey(limit, subject);
    const pending = this.#rawWrites.get(key);
    const log = pending && 'put' in pending ? pending.value : (await this.#entry(key))?.value;
    const { value, expires } = addUse(
      scaleLimit(limit, this.#call.settings.limitFactor),
      log,
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

  async read(key: string): Promise<RawValue | undefined> {
    const pending = this.#rawWrites.get(key) ?? this.#source.continues?.takeOver(key);
    if (pending) return 'put' in pending ? pending : undefined;
    return this.#entry(key);
  }

  /**
   * Returns this transaction's write of a raw key and drops it, because the other transaction
   * writes the key now: a commit writes a key once.
   */
  takeOver(key: string): Write | undefined {
    const pending = this.#rawWrites.get(key);
    if (this.#rawWrites.delete(key)) this.hasLostKeys = true;
    return pending;
  }

  write(key: string, value: Buffer, expires?: number, decoded?: object): void {
    this.#rawWrites.set(key, {
      put: key,
      value,
      ...(expires !== undefined && { expires }),
      ...(decoded && { decoded }),
    });
  }
  remove(key: string): void {
    this.#rawWrites.set(key, { delete: key });
  }

  /** Authorizes the objects that the request creates or changes, as they become. */
  async authorizeOutcome({ kind, name, authorize }: OutcomeAuthorizer): Promise<void> {
    for (const { kind: written, before, object } of this.#staged.values()) {
      if (written !== kind || !object) continue;
      const isOutcome = name === undefined ? !before : namespacedName(object.metadata) === name;
      if (isOutcome) this.decision = await authorize(object, this.#source.isCached?.() ?? false);
    }
  }

  /** Returns the checks and writes of the commit, and the objects that get its revision. */
  finish(): { part: StagedWrites; written: KindObject[] } {
    const checks: Check[] = [...this.#listed.values()];
    for (const [key, entry] of this.#read) checks.push({ key, is: entry?.revision ?? 'absent' });
    const { limits } = this.#call.settings;
    const objects = stagedWrites(this.#staged, this.#registry, limits);
    const writes = [...this.#rawWrites.values(), ...objects.writes];
    if (writes.length > 0 && this.#listed.size > 0 && checks.length > storeLimits.checks) {
      throw new Error(
        `a commit cannot check ${checks.length} objects, only ${storeLimits.checks}: give tx.list a ` +
          'function that chooses fewer',
      );
    }
    return { part: mergeParts({ checks, writes }, this.#parts), written: objects.written };
  }

  async #entry(key: string): Promise<Entry | undefined> {
    if (this.#read.has(key)) return this.#ifLive(key);
    const entry = await this.#source.get(key);
    this.#read.set(key, entry);
    return this.#ifLive(key);
  }

  /** Returns the entry that was read, unless it has expired; the commit checks it either way. */
  #ifLive(key: string): Entry | undefined {
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
   * Runs the hooks of every write in order: default, secrets, owners of fields, validate,
   * generation, beforeCommit, unique values. `taken` is thrown once the object is valid.
   */
  async #runHooks(
    kind: AnyKind,
    next: KindObject,
    before: EncodedObject | undefined,
    tracker: FieldTracker,
    taken?: StatusError,
  ): Promise<void> {
    const call = this.#call;
    const old = before?.object;
    const { spec, status, tracked, secrets } = this.#registry.schemas(kind);
    const write = { kind, schema: tracked, next, old, now: call.now };
    if (before && isFinalized(next, old)) {
      tracker.track(write);
      return this.#remove(kind, before);
    }
    const isStatus = tracker.subresource === 'status';
    if (!isStatus) await setDefaults(kind, spec, { next, old, call });
    const faults = isStatus ? status.check(next.status, 'status') : spec.check(next.spec, 'spec');
    throwFaults(kind, next, faults);
    const newSecrets = takeSecrets(isStatus ? [] : secrets, next, old, { kind, keys: call.keys });
    const isSpecChanged = !old || newSecrets.size > 0 || !isDeepStrictEqual(old.spec, next.spec);
    if (!isSpecChanged) next.spec = old.spec;
    // Staged before it is valid: who may not make the object is refused before its faults are shown.
    const key = objectKey(kind, namespacedName(next.metadata));
    this.#staged.set(key, { kind, before, object: next });
    tracker.track(withSecretMarks(secrets, write, newSecrets));
    throwFaults(kind, next, await kind.strategy.validate?.(next, old, call));
    throwFaults(kind, next, metadataSizeFaults(kind, next, old, call));
    throwFaults(kind, next, finalizerFaults(next, old));
    if (taken) throw taken;
    if (old) next.metadata.generation = old.metadata.generation + (isSpecChanged ? 1 : 0);
    await kind.strategy.beforeCommit?.(this, next, old, call);
    await updateDerivedRows(this, kind, { next, old }, call.settings.limits);
  }
}
