import type { IKeyValue } from 'etcd3';
import type { Entry, Revision } from '../storage.js';

const header = 20;
const nonceStart = 8;

/** Turns the contract's keys, revisions and values into etcd's and back. */
export class Keyspace {
  readonly prefix: string;
  /**
   * What is added to etcd's revisions, so that a restored store goes on above every revision told
   * before.
   */
  readonly base: Revision;

  constructor(prefix: string, base: Revision) {
    this.prefix = prefix;
    this.base = base;
  }

  /** etcd's key for ours. */
  key(key: string): Buffer {
    return Buffer.from(this.prefix + key, 'latin1');
  }

  /** Our key for etcd's. */
  name(key: Buffer): string {
    return key.toString('latin1', this.prefix.length);
  }

  /** etcd's revision for ours; zero or less when ours is from before this store began. */
  inward(revision: Revision): number {
    return revision - this.base;
  }

  /** Our revision for etcd's. */
  outward(revision: string | number): Revision {
    return Number(revision) + this.base;
  }

  /** The entry etcd holds. */
  entry(kv: IKeyValue): Entry {
    const entry = {
      key: this.name(kv.key),
      value: kv.value.subarray(header),
      revision: this.outward(kv.mod_revision),
    };
    if (kv.value.length < header) return { ...entry, value: kv.value };
    const expires = kv.value.readDoubleBE(0);
    return expires === 0 ? entry : { ...entry, expires };
  }
}

/** What etcd stores: the expiry as a double (0: none), the nonce of the commit, the bytes. */
export function encodeValue(value: Buffer, expires: number | undefined, nonce: Buffer): Buffer {
  const stored = Buffer.allocUnsafe(header + value.length);
  stored.writeDoubleBE(expires ?? 0, 0);
  nonce.copy(stored, nonceStart);
  value.copy(stored, header);
  return stored;
}

/** Whether the stored value was written by the commit with this nonce. */
export const carries = (stored: Buffer, nonce: Buffer): boolean =>
  stored.length >= header && stored.compare(nonce, 0, nonce.length, nonceStart, header) === 0;
