import type { Call, ObjectOf, Transaction } from '../../registry/kind.js';
import type { Outcome, Worker } from '../../registry/outbox.js';
import type { Store } from '../../registry/store.js';
import { Account } from './account.js';
import { Session } from '../session/session.js';

/** Sessions ended in one commit. */
const atOnce = 12;
const workFor = 86_400_000;

/** Whose sessions are to end, except one, unless they began later. */
interface Order {
  readonly account: string;
  readonly kept?: string;
  readonly seconds: number;
}

type SessionObject = ObjectOf<typeof Session>;

/** What in an Account's internal tells which sign-ins count. */
type SignedOut = ObjectOf<typeof Account>['internal']['signedOut'];

/**
 * Whether a sign-in of an account counts: not one from before its other sessions were ended,
 * wherever it was still on its way (docs/design/security.md#sign-out).
 */
export const isSessionValid = (signedOut: SignedOut, session: string, seconds: number): boolean =>
  !signedOut || seconds > signedOut.seconds || session === signedOut.kept;

/**
 * Ends every session of an account but the one that asks, in this commit: they count no more from
 * then on; the objects of `most` of them go with it, the rest follow from the outbox. So whoever
 * signed in by what was taken away is signed out with it.
 */
export async function revokeOtherSessions(
  tx: Transaction,
  call: Call,
  account: string,
  max = atOnce,
): Promise<void> {
  const kept =
    call.caller.type === 'Account' && call.caller.account === account
      ? call.caller.session
      : undefined;
  const order: Order = {
    account,
    ...(kept !== undefined && { kept }),
    seconds: Math.floor(call.now / 1000),
  };
  await tx.update(Account, account, ({ internal }) => {
    internal.signedOut = { seconds: order.seconds, ...(kept !== undefined && { kept }) };
  });
  const others = await sessionsOf(call, order);
  tx.add(await call.ports.endSessions(others.slice(0, max)));
  if (others.length > max) await tx.enqueue('sessions', order, call.now + workFor);
}

async function sessionsOf(
  call: Pick<Call, 'store'>,
  { account, kept, seconds }: Order,
): Promise<SessionObject[]> {
  const all = await call.store(Session).list(account);
  return all.filter(
    ({ metadata, internal }) =>
      metadata.name !== kept && !metadata.deletionTimestamp && internal.loginSeconds <= seconds,
  );
}

/** Ends them, a few in each commit, until none is left. */
export async function endSessions(call: Call, order: Order): Promise<void> {
  for (;;) {
    const some = (await sessionsOf(call, order)).slice(0, atOnce);
    if (some.length === 0) return;
    await call.change(async (tx) => tx.add(await call.ports.endSessions(some)));
  }
}

/** Ends the sessions that did not fit into the commit that decided it. */
export const sessionsWorker = (store: Store): Worker => ({
  name: 'sessions',
  delivery: 'AtLeastOnce',
  maxParallel: 2,
  async run(payload): Promise<Outcome> {
    await endSessions(store.systemCall(), payload as Order);
    return { done: true };
  },
});
