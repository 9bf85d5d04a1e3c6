import type { Call, ObjectOf, Transaction } from '../../../registry/kind.js';
import { dayMs } from '../../../registry/schema/units.js';
import type { Outcome, Worker } from '../../../registry/store/outbox.js';
import type { Store } from '../../../registry/store/store.js';
import { Session } from '../session/session.js';
import { Account } from './account.js';
import { endTokens } from './end-tokens.js';

/** The number of sessions that one commit ends. */
const sessionsPerCommit = 12;
const retryForMs = dayMs;

/**
 * The sessions to end: those of the account that began at or before `seconds` (since the epoch),
 * except `kept`.
 */
interface EndSessionsOrder {
  readonly account: string;
  readonly kept?: string;
  readonly seconds: number;
}

type SessionObject = ObjectOf<typeof Session>;

/**
 * Returns false for a sign-in from before the account's other sessions were ended, also if it was
 * still in progress then (docs/design/security.md#sign-out).
 */
export const isSessionValid = (
  { internal: { signedOut } }: ObjectOf<typeof Account>,
  session: string,
  seconds: number,
): boolean => !signedOut || seconds > signedOut.seconds || session === signedOut.kept;

/** When a sign-in was made, since the epoch. */
interface SignInTime {
  readonly seconds: number;
  /** Absent if the Interaction of the sign-in is gone. */
  readonly milliseconds?: number | undefined;
}

/** Returns false for a sign-in that has no session yet and was ended, as above or with a session. */
export const isSignInValid = (
  account: ObjectOf<typeof Account>,
  { seconds, milliseconds = seconds * 1000 }: SignInTime,
): boolean =>
  isSessionValid(account, '', seconds) && milliseconds > (account.internal.signInsEnded ?? 0);

/** What ends beside the other sessions and what the command holds, and how much in the commit. */
interface Revocation {
  /** Whether the tokens and codes of every app end, too. */
  readonly endsApps?: boolean;
  /** Whether the caller's session ends, too. */
  readonly endsOwn?: boolean;
  /** The most session objects that the commit deletes; an outbox worker deletes the rest. */
  readonly max?: number;
}

/**
 * Revokes every session of an account except the caller's, and what the command holds, in this
 * commit. A change of credentials thereby signs out everyone who used the old ones
 * (docs/design/security.md#taking-an-account-back).
 */
export async function revokeOtherSessions(
  tx: Transaction,
  call: Call,
  account: string,
  { endsApps = false, endsOwn = false, max = sessionsPerCommit }: Revocation = {},
): Promise<void> {
  const kept =
    call.caller.type === 'Account' && call.caller.account === account && !endsOwn
      ? call.caller.session
      : undefined;
  const order: EndSessionsOrder = {
    account,
    ...(kept !== undefined && { kept }),
    seconds: Math.floor(call.now / 1000),
  };
  await tx.update(Account, account, ({ internal }) => {
    internal.signedOut = { seconds: order.seconds, ...(kept !== undefined && { kept }) };
  });
  await endTokens(tx, account, endsApps);
  const others = await sessionsToEnd(call, order);
  tx.add(await call.ports.endSessions(others.slice(0, max)));
  if (others.length > max) await tx.enqueue('sessions', order, call.now + retryForMs);
}

async function sessionsToEnd(
  call: Pick<Call, 'store'>,
  { account, kept, seconds }: EndSessionsOrder,
): Promise<SessionObject[]> {
  const sessions = await call.store(Session).list(account);
  return sessions.filter(
    ({ metadata, internal }) =>
      metadata.name !== kept && !metadata.deletionTimestamp && internal.loginSeconds <= seconds,
  );
}

/** Ends the sessions in batches until none is left. */
export async function endSessions(call: Call, order: EndSessionsOrder): Promise<void> {
  for (;;) {
    const batch = (await sessionsToEnd(call, order)).slice(0, sessionsPerCommit);
    if (batch.length === 0) return;
    await call.change(async (tx) => tx.add(await call.ports.endSessions(batch)));
  }
}

/** Returns the worker that ends the sessions that did not fit into the revoking commit. */
export const sessionsWorker = (store: Store): Worker<EndSessionsOrder> => ({
  name: 'sessions',
  delivery: 'AtLeastOnce',
  maxParallel: 2,
  async run(order): Promise<Outcome> {
    await endSessions(store.systemCall(), order);
    return { done: true };
  },
});
