import type { Transaction } from '../../../registry/kind.js';
import { dayMs } from '../../../registry/schema/units.js';
import { digest } from '../../../security/keyring.js';
import { canonicalAddress } from '../../signin/email-address.js';

/**
 * How long an address counts as given up, in milliseconds: as long as a consent of the former account
 * is valid at an app.
 */
const givenUpForMs = 365 * dayMs;

const keyOf = (address: string): string => `addresses/givenup/${digest(canonicalAddress(address))}`;

/**
 * Records in this commit that an account gave up its address at `now` (ms since the epoch): it was
 * deleted, or it has another address.
 */
export const recordGivenUpAddress = (tx: Transaction, address: string, now: number): void =>
  tx.write(keyOf(address), Buffer.alloc(0), now + givenUpForMs);

/** Returns whether an account gave up the address; the commit checks that this holds. */
export const isGivenUpAddress = async (tx: Transaction, address: string): Promise<boolean> =>
  (await tx.read(keyOf(address))) !== undefined;
