import { keyOf } from '../limits.js';
import { isMet } from '../preconditions.js';
import type { Batch, Change, Check, Committed, Entry, Lost, Revision, Write } from '../storage.js';
import type { StoreState } from './state.js';
import { encodeLog, expiryKey, tombstoneKey } from './encoding.js';

const nothing = Buffer.alloc(1);

/**
 * The members of one lmdb transaction, judged one after the other against what stood before and
 * what the earlier ones wrote.
 */
export class GroupCommit {
  /** One for each member that changes something, in order of revision. */
  readonly batches: Batch[] = [];
  /** What stood before this group, for each key it writes. */
  readonly overlay = new Map<string, Entry | undefined>();
  readonly #state: StoreState;
  readonly #now = new Map<string, Entry | undefined>();
  readonly #members: number;
  #revision: Revision;

  constructor(state: StoreState, members: number) {
    this.#state = state;
    this.#members = members;
    this.#revision = state.revision;
  }

  /** Judges one member; a commit is made in memory until {@link put} and the flush behind it. */
  add(checks: readonly Check[], writes: readonly Write[]): Committed | Lost {
    const winners = new Map<string, Entry | undefined>();
    for (const check of checks) {
      const entry = this.#read(check.key);
      if (!isMet(check, entry)) winners.set(check.key, entry);
    }
    if (winners.size > 0) return { committed: false, revision: this.#revision, winners };
    this.#apply(writes);
    return { committed: true, revision: this.#revision, batch: this.#members };
  }

  /** Hands all writes to lmdb, inside its batch. */
  put(): void {
    for (const { revision, changes } of this.batches) {
      for (const change of changes) this.#put(change, revision);
      void this.#state.tables.log.put(revision, encodeLog(changes));
    }
  }

  #put({ key, entry, before }: Change, revision: Revision): void {
    const { current, tombstones: gone, expiry } = this.#state.tables;
    void (entry ? current.put(key, entry) : current.remove(key));
    if (!entry) void gone.put(tombstoneKey(key, revision), nothing);
    if (before?.expires === entry?.expires) return;
    if (before?.expires !== undefined) void expiry.remove(expiryKey(before.expires, key));
    if (entry?.expires !== undefined) void expiry.put(expiryKey(entry.expires, key), nothing);
  }

  #apply(writes: readonly Write[]): void {
    const revision = this.#revision + 1;
    const changes: Change[] = [];
    for (const write of writes) {
      const change = this.#change(write, revision);
      if (change.entry || change.before) changes.push(change);
    }
    if (changes.length === 0) return;
    this.#revision = revision;
    this.batches.push({ revision, changes });
    for (const { key, entry, before } of changes) {
      if (!this.overlay.has(key)) this.overlay.set(key, before);
      this.#now.set(key, entry);
    }
  }

  #change(write: Write, revision: Revision): Change {
    const key = keyOf(write);
    const before = this.#read(key);
    const entry =
      'put' in write
        ? {
            key,
            value: write.value,
            revision,
            ...(write.expires !== undefined && { expires: write.expires }),
          }
        : undefined;
    return { key, ...(entry && { entry }), ...(before && { before }) };
  }

  #read(key: string): Entry | undefined {
    return this.#now.has(key) ? this.#now.get(key) : this.#state.read(key);
  }
}
