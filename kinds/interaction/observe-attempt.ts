import type { Call } from '../../registry/kind.js';
import { StatusError } from '../../registry/status/status.js';
import { canonicalAddress } from '../signin/email-address.js';
import type { InteractionObject } from './schema.js';
import { outcomeOf } from './sign-in-metrics.js';

/**
 * Returns the result of a sign-in attempt and records it in the audit log and the log: account,
 * address, Client, method, outcome and reason.
 */
export async function observeAttempt(
  call: Call,
  { spec }: InteractionObject,
  { method, address }: { method: string; address: string | undefined },
  work: Promise<InteractionObject>,
): Promise<InteractionObject> {
  const { noteSignIn } = call.ports;
  noteSignIn({
    client: spec.client,
    method,
    ...(address !== undefined && { address: canonicalAddress(address) }),
  });
  try {
    const done = await work;
    const account = done.internal.login?.account;
    noteSignIn(account === undefined ? { outcome: 'Sent' } : { outcome: 'SignedIn', account });
    return done;
  } catch (error) {
    noteSignIn({
      outcome: outcomeOf(error),
      reason: error instanceof StatusError ? error.reason : 'InternalError',
    });
    throw error;
  }
}
