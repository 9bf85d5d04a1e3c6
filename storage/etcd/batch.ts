import { keyOf } from '../limits.js';
import type { Committed, Lost } from '../storage.js';
import type { QueuedTxn } from './nested-txn.js';

/** An intent that waits, with who is to be told. */
export interface BatchMember extends QueuedTxn {
  readonly bytes: number;
  /** Its number in order of arrival. */
  readonly arrival: number;
  /** When its caller gives up, in milliseconds since the epoch. */
  readonly until: number;
  readonly resolve: (result: Committed | Lost) => void;
  readonly reject: (error: unknown) => void;
}

const transactionOperations = 128;
const batchMembers = 64;
const memberWidth = 64;
const batchBytes = (1 << 20) - (64 << 10);
const memberBytes = 200;

/**
 * Takes from the queue what may go together, in order of arrival: nested transactions share etcd's
 * allowance of operations, and as all checks are judged before any write, no two may touch what one
 * of them writes. What may not go stays, in order.
 */
export function takeBatch(queue: BatchMember[]): BatchMember[] {
  const batch = new Batch();
  const rest: BatchMember[] = [];
  for (const member of queue) if (!batch.take(member)) rest.push(member);
  queue.splice(0, queue.length, ...rest);
  return batch.members;
}

class Batch {
  readonly members: BatchMember[] = [];
  readonly #checked = new Set<string>();
  readonly #written = new Set<string>();
  #width = 0;
  #bytes = 0;
  #closed = false;

  take(member: BatchMember): boolean {
    const fits = !this.#closed && this.#fits(member) && !this.#conflicts(member);
    this.#note(member);
    if (!fits) return false;
    this.members.push(member);
    this.#width = Math.max(this.#width, widthOf(member));
    this.#bytes += bytesOf(member);
    if (alone(member) || this.members.length === batchMembers) this.#closed = true;
    return true;
  }

  #fits(member: BatchMember): boolean {
    if (this.members.length === 0) return true;
    return (
      !alone(member) &&
      this.#bytes + bytesOf(member) <= batchBytes &&
      this.members.length + 1 + Math.max(this.#width, widthOf(member)) <= transactionOperations
    );
  }

  #conflicts({ checks, writes }: BatchMember): boolean {
    return (
      checks.some(({ key }) => this.#written.has(key)) ||
      writes.some((write) => this.#written.has(keyOf(write)) || this.#checked.has(keyOf(write)))
    );
  }

  /** One that stays behind is noted too: nothing that conflicts with it may overtake it. */
  #note({ checks, writes }: BatchMember): void {
    for (const { key } of checks) this.#checked.add(key);
    for (const write of writes) this.#written.add(keyOf(write));
  }
}

const widthOf = ({ checks, writes }: BatchMember): number => Math.max(checks.length, writes.length);
const bytesOf = (member: BatchMember): number =>
  member.bytes + memberBytes * (1 + member.checks.length + member.writes.length);
const alone = (member: BatchMember): boolean =>
  widthOf(member) > memberWidth || bytesOf(member) > batchBytes;
