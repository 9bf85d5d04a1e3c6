import { keyOf } from '../limits.js';
import type { Committed, Lost } from '../storage.js';
import type { QueuedTxn } from './nested-txn.js';

/** A queued transaction with its promise. */
export interface BatchMember extends QueuedTxn {
  readonly bytes: number;
  /** When its caller gives up, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly resolve: (result: Committed | Lost) => void;
  readonly reject: (error: unknown) => void;
}

const maxOperations = 128;
const maxMembers = 64;
const maxMemberOperations = 64;
const maxBatchBytes = (1 << 20) - (64 << 10);
const bytesPerOperation = 200;

/**
 * Takes the transactions from the queue that can share one, in order of arrival. Nested
 * transactions share etcd's operation limit. etcd evaluates all checks before any write, so no two
 * may touch a key that one of them writes. The rest stays queued in order.
 */
export function takeBatch(queue: BatchMember[]): BatchMember[] {
  const batch = new Batch();
  const remaining: BatchMember[] = [];
  for (const member of queue) if (!batch.tryAdd(member)) remaining.push(member);
  queue.splice(0, queue.length, ...remaining);
  return batch.members;
}

class Batch {
  readonly members: BatchMember[] = [];
  readonly #checked = new Set<string>();
  readonly #written = new Set<string>();
  #maxOperationCount = 0;
  #bytes = 0;
  #isClosed = false;

  tryAdd(member: BatchMember): boolean {
    const fits = !this.#isClosed && this.#fits(member) && !this.#conflicts(member);
    this.#record(member);
    if (!fits) return false;
    this.members.push(member);
    this.#maxOperationCount = Math.max(this.#maxOperationCount, operationCount(member));
    this.#bytes += estimatedBytes(member);
    if (mustBeAlone(member) || this.members.length === maxMembers) this.#isClosed = true;
    return true;
  }

  #fits(member: BatchMember): boolean {
    if (this.members.length === 0) return true;
    return (
      !mustBeAlone(member) &&
      this.#bytes + estimatedBytes(member) <= maxBatchBytes &&
      this.members.length + 1 + Math.max(this.#maxOperationCount, operationCount(member)) <=
        maxOperations
    );
  }

  #conflicts({ checks, writes }: BatchMember): boolean {
    return (
      checks.some(({ key }) => this.#written.has(key)) ||
      writes.some((write) => this.#written.has(keyOf(write)) || this.#checked.has(keyOf(write)))
    );
  }

  /**
   * Transactions that stay queued are recorded too, so that nothing that conflicts with them
   * overtakes them.
   */
  #record({ checks, writes }: BatchMember): void {
    for (const { key } of checks) this.#checked.add(key);
    for (const write of writes) this.#written.add(keyOf(write));
  }
}

const operationCount = ({ checks, writes }: BatchMember): number =>
  Math.max(checks.length, writes.length);
const estimatedBytes = (member: BatchMember): number =>
  member.bytes + bytesPerOperation * (1 + member.checks.length + member.writes.length);
/** A range has too many keys to compare them with those that others write. */
const mustBeAlone = (member: BatchMember): boolean =>
  member.checks.some(({ end }) => end !== undefined) ||
  operationCount(member) > maxMemberOperations ||
  estimatedBytes(member) > maxBatchBytes;
