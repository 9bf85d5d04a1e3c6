import { keyOf } from '../limits.js';
import { isMet } from '../preconditions.js';
import {
  type Batch,
  type Change,
  type Check,
  type Committed,
  type Entry,
  type Lost,
  ownBytes,
  type RangeCheck,
  type Revision,
  type Write,
} from '../storage.js';
import type { StoreState } from './state.js';

/**
 * The members of one batch, each checked against the store and the writes of the members
 * before it.
 */
export class GroupCommit {
  /** One batch for each member that changes something, in order of revision. */
  readonly batches: Batch[] = [];
  readonly #state: StoreState;
  readonly #written = new Map<string, Entry | undefined>();
  readonly #memberCount: number;
  #revision: Revision;

  constructor(state: StoreState, memberCount: number) {
    this.#state = state;
    this.#memberCount = memberCount;
    this.#revision = state.revision;
  }

  /**
   * Checks one member and applies it in memory; it is durable only after the log was written.
   */
  add(checks: readonly Check[], writes: readonly Write[]): Committed | Lost {
    const winners = new Map<string, Entry | undefined>();
    let isLost = false;
    for (const check of checks) {
      if (check.end !== undefined) {
        isLost ||= !this.#isUnwritten(check);
        continue;
      }
      const entry = this.#read(check.key);
      if (!isMet(check, entry)) winners.set(check.key, entry);
    }
    if (isLost || winners.size > 0) return { committed: false, revision: this.#revision, winners };
    this.#apply(writes);
    return { committed: true, revision: this.#revision, batch: this.#memberCount };
  }

  /** Whether no key of a range was written after a revision; false if memory does not reach back. */
  #isUnwritten({ key, end, is }: RangeCheck): boolean {
    const recent = this.#state.recent(is);
    return (
      recent !== undefined &&
      ![...recent, ...this.batches]
        .flatMap(({ changes }) => changes.map((change) => change.key))
        .some(
          (changed) => changed >= key && changed < end && (this.#read(changed)?.revision ?? 0) > is,
        )
    );
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
    for (const { key, entry } of changes) this.#written.set(key, entry);
  }

  #change(write: Write, revision: Revision): Change {
    const key = keyOf(write);
    const before = this.#read(key);
    const entry =
      'put' in write
        ? {
            key,
            value: ownBytes(write.value),
            revision,
            ...(write.expires !== undefined && { expires: write.expires }),
            ...(write.decoded && { decoded: write.decoded }),
          }
        : undefined;
    return { key, ...(entry && { entry }), ...(before && { before }) };
  }

  #read(key: string): Entry | undefined {
    return this.#written.has(key) ? this.#written.get(key) : this.#state.read(key);
  }
}
