import type { Revision } from '../storage.js';
import type { Tally } from './layout.js';
import type { Header } from './format.js';

const leap = 1e9;

/** What came of a restore. */
export interface Restored {
  readonly header: Header;
  readonly tally: Tally;
  readonly epoch: number;
  readonly base: Revision;
}

/**
 * The epoch of a store restored from this snapshot: nothing that was issued under the snapshot's
 * own counts there.
 */
export const epochAfter = ({ epoch }: Header): number => epoch + 1;

/**
 * What the revisions of a store restored now go on from: at least 10⁹ above the snapshot's, and
 * above those of every store restored before from this or any snapshot, so that no revision is told
 * twice; hence by the clock, in microseconds.
 */
export const baseAfter = ({ revision }: Header, now = Date.now()): Revision =>
  Math.max(revision + leap, now * 1000);
