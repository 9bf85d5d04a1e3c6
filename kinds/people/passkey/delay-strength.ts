import type { Call, ObjectOf, Transaction } from '../../../registry/kind.js';
import { fromTimestamp } from '../../../registry/schema/timestamp.js';
import { Passkey } from './passkey.js';
import { hasFullStrength, waitEndTimestamp } from './strength.js';
import { awaitFullStrength } from './strength-row.js';

type PasskeyObject = ObjectOf<typeof Passkey>;

/**
 * Delays the full strength of passkeys that do not have it yet until after a recovery. Otherwise a
 * passkey that an attacker added would reach it first. No one can vouch for them any more.
 */
export async function delayWaitingPasskeys(
  tx: Transaction,
  call: Call,
  account: string,
  until: string,
): Promise<void> {
  for (const { metadata, status } of await passkeysOf(tx, call, account)) {
    if (!hasFullStrength(status, call.now)) {
      await tx.update(Passkey, metadata.name, (next) => {
        delete next.internal.vouchedTimestamp;
        if (isBefore(next, until)) next.status.fullStrengthTimestamp = until;
      });
    }
  }
}

/**
 * Makes every passkey of an account wait as long as a recovery: the account takes an address that was
 * in use before.
 */
export async function delayAllPasskeys(
  tx: Transaction,
  call: Call,
  account: string,
): Promise<void> {
  const until = waitEndTimestamp(call.now, call.settings.limits.recoveryWait);
  for (const { metadata } of await passkeysOf(tx, call, account)) {
    const { name } = metadata;
    await tx.update(Passkey, name, (next) => {
      if (!isBefore(next, until)) return;
      next.internal.vouchedTimestamp ??= next.status.fullStrengthTimestamp;
      next.status.fullStrengthTimestamp = until;
    });
    await awaitFullStrength(tx, name, { fullStrengthTimestamp: until }, call.now);
  }
}

/** Ends the waits that an address brought, because someone vouched for the person at it. */
export async function endWaitsOfAddress(
  tx: Transaction,
  call: Call,
  account: string,
): Promise<void> {
  for (const { metadata, internal } of await passkeysOf(tx, call, account)) {
    const { vouchedTimestamp } = internal;
    if (vouchedTimestamp !== undefined) {
      await tx.update(Passkey, metadata.name, (next) => {
        next.status.fullStrengthTimestamp = vouchedTimestamp;
        delete next.internal.vouchedTimestamp;
      });
    }
  }
}

/** Returns the passkeys of an account; the commit checks that they are unchanged. */
async function passkeysOf(
  tx: Transaction,
  call: Call,
  account: string,
): Promise<readonly PasskeyObject[]> {
  const listed = await call.store(Passkey).list(account);
  const current = await Promise.all(listed.map(({ metadata }) => tx.get(Passkey, metadata.name)));
  return current.filter((passkey) => passkey !== undefined);
}

const isBefore = ({ status }: PasskeyObject, until: string): boolean =>
  fromTimestamp(status.fullStrengthTimestamp) < fromTimestamp(until);
