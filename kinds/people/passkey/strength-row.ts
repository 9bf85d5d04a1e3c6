import type { Transaction } from '../../../registry/kind.js';
import { fromTimestamp } from '../../../registry/schema/timestamp.js';
import { dayMs } from '../../../registry/schema/units.js';
import { hasFullStrength, type PasskeyStrength } from './strength.js';

/** The outbox row that makes a change, for watches, when a passkey reaches full strength. */
export interface StrengthRow {
  readonly passkey: string;
}

/** How long a late change is still made, in milliseconds. */
const retryForMs = 30 * dayMs;

/** Enqueues the change of the condition FullStrength of a passkey that does not have it at `now`. */
export async function awaitFullStrength(
  tx: Transaction,
  passkey: string,
  strength: PasskeyStrength,
  now: number,
): Promise<void> {
  if (hasFullStrength(strength, now)) return;
  const notBefore = fromTimestamp(strength.fullStrengthTimestamp);
  await tx.enqueue('passkey', { passkey } satisfies StrengthRow, notBefore + retryForMs, {
    notBefore,
  });
}
