import { isOnChange } from '../../registry/authorizer.js';
import type { Call, Decision } from '../../registry/kind.js';
import { StatusError } from '../../registry/status/status.js';
import { Account } from '../people/account/account.js';
import { Passkey } from '../people/passkey/passkey.js';
import { canonicalAddress } from '../signin/email-address.js';
import type { InteractionObject } from './interaction.js';
import { outcomeOf } from './sign-in-metrics.js';

/**
 * Returns the result of a sign-in attempt. If it fails other than by a decision of its own, it is
 * counted among the failed attempts at the account, without a wait: the time of an answer must not say
 * whether there is one.
 */
export async function noteFailure<T>(
  call: Call,
  { spec, internal }: InteractionObject,
  { decision, credential }: { decision: Decision; credential: string | undefined },
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isRecorded = error instanceof StatusError && error.details?.policyDecision !== undefined;
    if (!isRecorded && isOnChange(decision)) {
      const outcome = outcomeOf(error);
      const count = (account: string | undefined): void =>
        decision.noteFailure({ outcome, account, client: spec.client });
      void accountOf(call, internal.email?.address, credential).then(count, () => count(undefined));
    }
    throw error;
  }
}

/** Returns the account that an attempt was made at: that of the passkey, else that of the address. */
async function accountOf(
  call: Call,
  address: string | undefined,
  credential: string | undefined,
): Promise<string | undefined> {
  if (credential !== undefined) {
    return (await call.store(Passkey).byUnique('credential', credential))?.status.account;
  }
  if (address === undefined) return undefined;
  return (await call.store(Account).byUnique('email', canonicalAddress(address)))?.metadata.name;
}
