import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { digest } from '../security/keyring.js';
import { type Entry, prefixRange, type Range } from '../storage/storage.js';
import type { AnyKind, KindObject } from './kind.js';

/** Returns the storage key of an object: `objects/<resource>/<name>`. */
export const objectKey = (kind: Pick<AnyKind, 'resource'>, name: string): string =>
  `objects/${kind.resource}/${name}`;

/** Returns the range of the objects of a kind, or of those that one account owns. */
export const objectsRange = (kind: Pick<AnyKind, 'resource'>, owner?: string): Range =>
  prefixRange(objectKey(kind, owner === undefined ? '' : `${owner}-`));

/** Returns the key that reserves a unique value. */
export const uniqueKey = (kind: AnyKind, field: string, value: string): string =>
  `unique/${kind.resource}/${field}/${digest(value)}`;

/** A window of 4 KiB is enough for an object that its dictionary begins. */
const deflation = { windowBits: 12, memLevel: 5, chunkSize: 1 << 10 } as const;
const inflation = { chunkSize: 1 << 12 } as const;

/**
 * Encodes an object for the store: its wire bytes without resourceVersion, then `internal`, which
 * never leaves the server; deflated if the kind has a dictionary.
 */
export function encode(kind: AnyKind, object: KindObject): Buffer {
  const { resourceVersion: _, ...metadata } = object.metadata;
  const wire = JSON.stringify({
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata,
    spec: object.spec,
    status: object.status,
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

const wireHeads = new WeakMap<AnyKind, Buffer>();

/** Returns the first bytes of an object on the wire, up to the resourceVersion. */
function wireHead(kind: AnyKind): Buffer {
  const cached = wireHeads.get(kind);
  if (cached) return cached;
  const head = Buffer.from(
    `{"apiVersion":${JSON.stringify(kind.apiVersion)},"kind":${JSON.stringify(kind.kind)},"metadata":{"resourceVersion":"`,
  );
  wireHeads.set(kind, head);
  return head;
}
const splice = Buffer.from('",');
const spliceLength = '"resourceVersion":"'.length;

/** An object as stored; decoded on demand. */
export class EncodedObject {
  readonly kind: AnyKind;
  readonly name: string;
  readonly entry: Entry;
  #object: KindObject | undefined;

  /** `source` is the object that the entry's value was encoded from. */
  constructor(kind: AnyKind, entry: Entry, source?: KindObject) {
    this.kind = kind;
    this.name = entry.key.slice(entry.key.lastIndexOf('/') + 1);
    this.entry = entry;
    this.#object = source && this.#withRevision(source);
  }

  get revision(): number {
    return this.entry.revision;
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
    const length = value.readUInt32BE(0);
    const { metadata, spec, status } = JSON.parse(
      value.toString('utf8', 4, 4 + length),
    ) as KindObject;
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
   * Returns the wire bytes with resourceVersion, without `internal` (at `revision` if a deletion
   * has its own).
   */
  wire(revision: number = this.revision): Buffer {
    const head = wireHead(this.kind);
    const value = inflate(this.kind, this.entry.value);
    const length = value.readUInt32BE(0);
    const version = String(revision);
    const from = 4 + head.length - spliceLength;
    const wire = Buffer.allocUnsafe(
      head.length + version.length + splice.length + 4 + length - from,
    );
    head.copy(wire);
    const end = head.length + wire.write(version, head.length, 'latin1');
    splice.copy(wire, end);
    value.copy(wire, end + splice.length, from, 4 + length);
    return wire;
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
