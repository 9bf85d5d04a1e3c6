import type { DeliveryState } from '../../mail/worker.js';
import type { Transaction } from '../../registry/kind.js';
import { jsonValue } from '../../registry/schema/json-value.js';
import type { Store } from '../../registry/store/store.js';
import type { CountedMail } from '../interaction/schema.js';
import { Session } from '../people/session/session.js';

/** An emailed code, as the hash that it is compared with. */
export interface SentCode {
  readonly id: string;
  readonly address: string;
  readonly code: string;
}

/**
 * A code that was emailed to a new address, stored by session
 * (docs/design/security.md#emailed-codes-and-links). Times in milliseconds since the epoch.
 */
export interface Challenge extends SentCode {
  readonly sent: number;
  readonly expires: number;
  readonly length: number;
  triesLeft: number;
  /** Earlier codes of this change, to tell a replaced code from a wrong one. */
  readonly replaced?: readonly SentCode[];
  /** The mails of this change, which count against a client network until the code is entered. */
  readonly countedMails?: readonly CountedMail[];
}

const keyOf = (session: string): string => `proofs/email/${session}`;

/** Returns the challenge of a session. */
export async function readChallenge(
  tx: Transaction,
  session: string,
): Promise<Challenge | undefined> {
  const stored = await tx.read(keyOf(session));
  return stored && jsonValue<Challenge>(stored);
}

/** Writes a challenge of a session; the delivery state stays. */
export const writeChallenge = (tx: Transaction, session: string, challenge: Challenge): void =>
  tx.write(
    keyOf(session),
    Buffer.from(JSON.stringify(challenge)),
    2 * challenge.expires - challenge.sent,
  );

/** Writes a new challenge of a session, about whose mail nothing is known. */
export async function replaceChallenge(
  tx: Transaction,
  session: string,
  challenge: Challenge,
): Promise<void> {
  writeChallenge(tx, session, challenge);
  await writeDeliveryState(tx, session, undefined);
}

/** Removes the challenge of a session after its code was right. */
export async function removeChallenge(tx: Transaction, session: string): Promise<void> {
  tx.remove(keyOf(session));
  await writeDeliveryState(tx, session, undefined);
}

/**
 * Writes the delivery state of the mail of challenge `id` into its Session, which the account page
 * watches. Ignores mails that were replaced.
 */
export const recordNewAddressDelivery = (
  store: Store,
  session: string,
  id: string,
  state: DeliveryState,
): Promise<void> =>
  store.change(store.systemCall(), async (tx) => {
    const challenge = await readChallenge(tx, session);
    if (challenge?.id === id) await writeDeliveryState(tx, session, state);
  });

async function writeDeliveryState(
  tx: Transaction,
  session: string,
  state: DeliveryState,
): Promise<void> {
  const held = await tx.get(Session, session);
  if (!held || held.status.emailDeliveryState === state) return;
  await tx.update(Session, session, ({ status }) => {
    delete status.emailDeliveryState;
    if (state !== undefined) status.emailDeliveryState = state;
  });
}
