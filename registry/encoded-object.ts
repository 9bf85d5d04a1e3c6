import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { digest } from '../security/keyring.js';
import { type Entry, prefixRange, type Range } from '../storage/storage.js';
import type { AnyKind, KindObject } from './kind.js';
import { hubOf, type KindView, viewsOf } from './versions/kind-view.js';

/** What keys need to know of a kind; its storage name is the resource if there is none. */
type Stored = Pick<AnyKind, 'resource'> & Partial<Pick<AnyKind, 'storageName' | 'scope'>>;

/**
 * Returns the storage key of an object: `objects/<storage name>/<name>`, where the name of a namespaced
 * one is `<namespace>/<name>`.
 */
export const objectKey = ({ resource, storageName = resource }: Stored, name: string): string =>
  `objects/${storageName}/${name}`;

/**
 * Returns the range of the objects of a kind, or of a part of them: those that one account owns, or
 * those of one namespace.
 */
export const objectsRange = (kind: Stored, part?: string): Range => {
  const end = kind.scope === 'Namespaced' ? '/' : '-';
  return prefixRange(objectKey(kind, part === undefined ? '' : `${part}${end}`));
};

/** Returns the key that reserves a unique value. */
export const uniqueKey = (kind: AnyKind, field: string, value: string): string =>
  `unique/${kind.storageName}/${field}/${digest(value)}`;

const nameStart = 'objects/'.length;

/** A window of 4 KiB is enough for an object that its dictionary begins. */
const deflation = { windowBits: 12, memLevel: 5, chunkSize: 1 << 10 } as const;
const inflation = { chunkSize: 1 << 12 } as const;

/**
 * Encodes an object for the store in a version: its wire bytes without resourceVersion, then
 * `internal`, which never leaves the server and is always as the hub has it; deflated if the kind has
 * a dictionary.
 */
export function encode(view: KindView, object: KindObject): Buffer {
  const { kind } = view;
  const { resourceVersion: _, ...metadata } = object.metadata;
  const wire = JSON.stringify({
    apiVersion: view.apiVersion,
    kind: kind.kind,
    metadata,
    ...inVersion(view, object, true),
  });
  const internal = object.internal === undefined ? '' : JSON.stringify(object.internal);
  const length = Buffer.byteLength(wire);
  const encoded = Buffer.allocUnsafe(4 + length + Buffer.byteLength(internal));
  encoded.writeUInt32BE(length, 0);
  encoded.write(wire, 4);
  encoded.write(internal, 4 + length);
  return kind.dictionary
    ? deflateRawSync(encoded, { ...deflation, dictionary: kind.dictionary })
    : encoded;
}

/** Returns what {@link encode} deflated. */
const inflate = ({ dictionary }: AnyKind, value: Buffer): Buffer =>
  dictionary ? inflateRawSync(value, { ...inflation, dictionary }) : value;

const wireHeads = new WeakMap<KindView, Buffer>();

/** Returns the first bytes of an object on the wire, up to the resourceVersion. */
function wireHead(view: KindView): Buffer {
  const cached = wireHeads.get(view);
  if (cached) return cached;
  const { apiVersion, kind } = view;
  const head = Buffer.from(
    `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind.kind)},"metadata":{"resourceVersion":"`,
  );
  wireHeads.set(view, head);
  return head;
}

/** Returns spec and status as a version has them. */
export function inVersion(
  { names }: KindView,
  { spec, status }: KindObject,
  isStored = false,
): Pick<KindObject, 'spec' | 'status'> {
  return names ? (names.fromHub({ spec, status }, isStored) as KindObject) : { spec, status };
}

/** Returns the version in which an object was stored; throws for one that is not served. */
function storedView(kind: AnyKind, value: Buffer, name: string): KindView {
  const views = viewsOf(kind);
  for (const view of views) {
    const head = wireHead(view);
    const length = head.length - spliceLength;
    if (value.compare(head, 0, length, 4, 4 + length) === 0) return view;
  }
  const { apiVersion } = JSON.parse(value.toString('utf8', 4, 4 + value.readUInt32BE(0)));
  throw new Error(
    `${kind.kind} ${JSON.stringify(name)} is stored in version ${apiVersion}, which this release does not know`,
  );
}
const splice = Buffer.from('",');
const spliceLength = '"resourceVersion":"'.length;

/** An object as stored; decoded on demand. */
export class EncodedObject {
  readonly kind: AnyKind;
  /** As `namespacedName` has it. */
  readonly name: string;
  readonly entry: Entry;
  #object: KindObject | undefined;

  /** `source` is the object that the entry's value was encoded from. */
  constructor(kind: AnyKind, entry: Entry, source?: KindObject) {
    this.kind = kind;
    this.name = entry.key.slice(entry.key.indexOf('/', nameStart) + 1);
    this.entry = entry;
    this.#object = source && this.#withRevision(source);
  }

  get revision(): number {
    return this.entry.revision;
  }

  /** The version in which it is stored; throws for one that is not served. */
  get storedVersion(): string {
    return storedView(this.kind, inflate(this.kind, this.entry.value), this.name).version;
  }

  /** The decoded object; must not be changed. */
  get object(): KindObject {
    this.#object ??= this.#decode();
    return this.#object;
  }

  /** Returns a copy that may be changed. */
  parse(): KindObject {
    return clone(this.object);
  }

  #decode(): KindObject {
    const value = inflate(this.kind, this.entry.value);
    const { names } = storedView(this.kind, value, this.name);
    const length = value.readUInt32BE(0);
    const stored = JSON.parse(value.toString('utf8', 4, 4 + length)) as KindObject;
    const { metadata } = stored;
    const { spec, status } = names ? (names.toHub(stored, true) as KindObject) : stored;
    const internal =
      value.length > 4 + length ? JSON.parse(value.toString('utf8', 4 + length)) : undefined;
    return this.#withRevision({ metadata, spec, status, internal });
  }

  #withRevision({ metadata, spec, status, internal }: KindObject): KindObject {
    return {
      metadata: { ...metadata, resourceVersion: String(this.revision) },
      spec,
      status,
      internal,
    };
  }

  /**
   * Returns the wire bytes in a version, by default the hub's, with resourceVersion, without
   * `internal` (at `revision` if a deletion has its own). What is stored in that version is copied.
   */
  wire(revision: number = this.revision, view: KindView = hubOf(this.kind)): Buffer {
    const value = inflate(this.kind, this.entry.value);
    const stored = storedView(this.kind, value, this.name);
    if (stored.names !== view.names || view.names?.hides) return this.#wireIn(view, revision);
    const head = wireHead(view);
    const length = value.readUInt32BE(0);
    const version = String(revision);
    const from = 4 + wireHead(stored).length - spliceLength;
    const wire = Buffer.allocUnsafe(
      head.length + version.length + splice.length + 4 + length - from,
    );
    head.copy(wire);
    const end = head.length + wire.write(version, head.length, 'latin1');
    splice.copy(wire, end);
    value.copy(wire, end + splice.length, from, 4 + length);
    return wire;
  }

  /** Returns the wire bytes in a version with other names than the stored one. */
  #wireIn(view: KindView, revision: number): Buffer {
    const { metadata } = this.object;
    const { resourceVersion: _, ...rest } = metadata;
    return Buffer.from(
      JSON.stringify({
        apiVersion: view.apiVersion,
        kind: this.kind.kind,
        metadata: { resourceVersion: String(revision), ...rest },
        ...inVersion(view, this.object),
      }),
    );
  }

  /** Whether `encoded` equals the stored bytes. */
  equals(encoded: Buffer): boolean {
    return this.entry.value.equals(encoded);
  }
}

/**
 * Returns the object of an entry, the same one for the same entry, so that it is parsed at most
 * once. The entry holds it, since a weak map of so many entries is slow to fill and to collect.
 */
export function encodedObjectOf(kind: AnyKind, entry: Entry): EncodedObject {
  if (!(entry.decoded instanceof EncodedObject)) {
    entry.decoded = new EncodedObject(kind, entry, entry.decoded as KindObject | undefined);
  }
  return entry.decoded as EncodedObject;
}

/**
 * Returns a deep copy of JSON data, without members that are undefined; eight times faster than
 * structuredClone.
 */
export function clone<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(clone) as T;
  const copy: Record<string, unknown> = {};
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (member !== undefined) copy[name] = clone(member);
  }
  return copy as T;
}

/** Whether an entry has not expired at `now` (ms): the reader checks expiry. */
export const isLive = (entry: Entry | undefined, now: number): entry is Entry =>
  entry !== undefined && (entry.expires === undefined || entry.expires > now);
