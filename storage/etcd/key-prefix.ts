import type { IKeyValue } from 'etcd3';
import { type Entry, ownBytes, type Revision } from '../storage.js';

const headerBytes = 20;
const nonceStart = 8;

/** Converts keys, revisions and values between the storage contract and etcd. */
export class Keyspace {
  readonly prefix: string;
  /**
   * Added to etcd's revisions, so that a restored store continues above every revision used before.
   */
  readonly base: Revision;

  constructor(prefix: string, base: Revision) {
    this.prefix = prefix;
    this.base = base;
  }

  /** Returns etcd's key. */
  toEtcdKey(key: string): Buffer {
    return Buffer.from(this.prefix + key, 'latin1');
  }

  /** Returns the contract's key. */
  fromEtcdKey(etcdKey: Buffer): string {
    return etcdKey.toString('latin1', this.prefix.length);
  }

  /** Returns etcd's revision; zero or negative if the revision is older than this store. */
  toEtcdRevision(revision: Revision): number {
    return revision - this.base;
  }

  /** Returns the contract's revision. */
  fromEtcdRevision(revision: string | number): Revision {
    return Number(revision) + this.base;
  }

  /** Returns the contract's entry. */
  toEntry(kv: IKeyValue): Entry {
    const entry = {
      key: this.fromEtcdKey(kv.key),
      value: ownBytes(kv.value.subarray(headerBytes)),
      revision: this.fromEtcdRevision(kv.mod_revision),
    };
    if (kv.value.length < headerBytes) return { ...entry, value: kv.value };
    const expires = kv.value.readDoubleBE(0);
    return expires === 0 ? entry : { ...entry, expires };
  }
}

/**
 * Encodes a value for etcd: the expiry as a double (0: none), the nonce of the commit, the bytes.
 */
export function encodeValue(value: Buffer, expires: number | undefined, nonce: Buffer): Buffer {
  const stored = Buffer.allocUnsafe(headerBytes + value.length);
  stored.writeDoubleBE(expires ?? 0, 0);
  nonce.copy(stored, nonceStart);
  value.copy(stored, headerBytes);
  return stored;
}

/** Returns whether the commit with this nonce wrote a stored value. */
export const hasNonce = (stored: Buffer, nonce: Buffer): boolean =>
  stored.length >= headerBytes &&
  stored.compare(nonce, 0, nonce.length, nonceStart, headerBytes) === 0;
