import type { Range } from '../storage.js';
import type { SnapshotItem } from './format.js';

/** The range of all keys. */
export const allKeys: Range = { start: '!', end: '\u007f' };

/**
 * The marker of an incomplete restore in etcd, where a restore needs several commits. Set before
 * the first and deleted by the last.
 */
export const restoringKey = 'meta/restoring';

/** The number added to the revisions of a restored store. */
export const baseKey = 'meta/base';

/** The key of the epoch, which every restore raises; a snapshot has it in its header. */
export const epochKey = 'meta/epoch';

/** The time of the last snapshot of a store in etcd. */
export const lastSnapshotKey = 'meta/last-snapshot';

/** The mail server that accepted a mail, and when. */
export const lastMailKey = 'meta/last-mail';

/** Keys that belong to one store and not to a copy of it: base, epoch, records of replicas, compaction. */
const excludedKeys: readonly string[] = [
  baseKey,
  epochKey,
  restoringKey,
  'meta/replicas/',
  'meta/controllers/',
  'meta/keys',
  'meta/dropped-keys',
  'meta/compaction',
  'meta/quota',
  lastSnapshotKey,
  lastMailKey,
];

/** Returns whether a snapshot omits a key. */
export const isExcluded = (key: string): boolean =>
  key.startsWith('meta/') &&
  excludedKeys.some((excluded) =>
    excluded.endsWith('/') ? key.startsWith(excluded) : key === excluded,
  );

/** Returns the range that a key is counted under. */
export function rangeOf(key: string): string {
  const [first, second, ...rest] = key.split('/');
  return rest.length > 0 ? `${first!}/${second!}` : first!;
}

/** Counts keys and bytes per range. */
export class SnapshotStats {
  keys = 0;
  bytes = 0;
  readonly ranges = new Map<string, { keys: number; bytes: number }>();

  add(key: string, bytes: number): void {
    const range = rangeOf(key);
    const rangeStats = this.ranges.get(range) ?? { keys: 0, bytes: 0 };
    this.ranges.set(range, { keys: rangeStats.keys + 1, bytes: rangeStats.bytes + bytes });
    this.keys += 1;
    this.bytes += bytes;
  }
}

/** Returns the record to restore, or undefined to leave it out. */
export type Revise = (item: SnapshotItem) => SnapshotItem | undefined;

/** Reports the progress of long work. */
export interface SnapshotProgress {
  progress(done: SnapshotStats): void;
  /** Ends the work when aborted. */
  readonly signal: AbortSignal;
}
