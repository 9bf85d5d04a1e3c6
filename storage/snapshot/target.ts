import type { Revision } from '../storage.js';
import type { Header } from './format.js';
import type { SnapshotStats } from './layout.js';

const minRevisionGap = 1e9;

/** The result of a restore. */
export interface RestoreResult {
  readonly header: Header;
  readonly stats: SnapshotStats;
  readonly epoch: number;
  readonly base: Revision;
}

/**
 * Returns the epoch of a restored store; everything issued in the snapshot's epoch is invalid in
 * it.
 */
export const restoredEpoch = ({ epoch }: Header): number => epoch + 1;

/**
 * Returns the revision that a restored store starts from: at least 10⁹ above the snapshot's, and
 * above those of every store restored earlier, so that no revision is used twice. Therefore it
 * follows the clock, in microseconds.
 */
export const restoredBase = ({ revision }: Header, now = Date.now()): Revision =>
  Math.max(revision + minRevisionGap, now * 1000);
