import type { Range } from '../storage.js';
import type { SnapshotItem } from './format.js';

/** Every key of the contract. */
export const everything: Range = { start: '!', end: '\u007f' };

/**
 * Set in etcd, where a restore cannot be one commit, from before its first until its last: a store
 * that has it is not whole.
 */
export const restoringKey = 'meta/restoring';

/** What is added to the revisions of a store that was restored. */
export const baseKey = 'meta/base';

/** Raised by every restore; the header of a snapshot has it. */
export const epochKey = 'meta/epoch';

/**
 * What is true of one store and of none that is made of it: its base and epoch, its clocks, how far
 * its history was forgotten.
 */
const left: readonly string[] = [
  baseKey,
  epochKey,
  restoringKey,
  'meta/clocks/',
  'meta/keys',
  'meta/dropped-keys',
  'meta/compaction',
  'meta/quota',
];

/** Whether a snapshot leaves this key out. */
export const leftOut = (key: string): boolean =>
  key.startsWith('meta/') &&
  left.some((one) => (one.endsWith('/') ? key.startsWith(one) : key === one));

/** The range that a key is counted under where it is said what a snapshot holds. */
export function rangeOf(key: string): string {
  const [first, second, ...more] = key.split('/');
  return more.length > 0 ? `${first!}/${second!}` : first!;
}

/** How many keys and bytes each range has. */
export class Tally {
  keys = 0;
  bytes = 0;
  readonly ranges = new Map<string, { keys: number; bytes: number }>();

  add(key: string, bytes: number): void {
    const range = rangeOf(key);
    const counted = this.ranges.get(range) ?? { keys: 0, bytes: 0 };
    this.ranges.set(range, { keys: counted.keys + 1, bytes: counted.bytes + bytes });
    this.keys += 1;
    this.bytes += bytes;
  }
}

/** Returns the record to restore, or undefined to leave it out. */
export type Revise = (item: SnapshotItem) => SnapshotItem | undefined;

/** Told now and then how far long work has come. */
export interface SnapshotProgress {
  progress(done: Tally): void;
  /** Ends the work where it is aborted. */
  readonly signal: AbortSignal;
}
