import type { Call, Decision, ObjectOf, Transaction } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { invalidValue } from '../../registry/status/field-errors.js';
import { invalid, StatusError } from '../../registry/status/status.js';
import { acceptInvitation } from '../access/invitation/accept.js';
import { Account } from '../people/account/account.js';
import { Passkey } from '../people/passkey/passkey.js';
import { hasFullStrength } from '../people/passkey/strength.js';
import type { Assertion } from '../people/passkey/webauthn/credential.js';
import {
  type AssertionVerdict,
  backupEligibilityChanged,
  counterNotIncreased,
  isCounterIncreased,
  verifyAssertion,
} from '../people/passkey/webauthn/verify-assertion.js';
import { cancelWaitingRecovery } from '../people/recovery/recovery.js';
import { canonicalAddress } from '../signin/email-address.js';
import { type TakenChallenge, takeChallenge } from '../signin/passkey-challenge.js';
import { authenticate, consumeProof, denialReason } from './complete-login.js';
import { Interaction, type InteractionObject } from './interaction.js';
import { assertPhase } from './preconditions.js';

type Verified = Extract<AssertionVerdict, { verified: true }>;

/** A passkey and the account it signs in to. */
interface KnownPasskey {
  readonly passkey: ObjectOf<typeof Passkey>;
  readonly account: ObjectOf<typeof Account>;
}

/**
 * Returns the 422 for every fault of an assertion, with or without a challenge, so that it does not
 * reveal whether a credential exists (docs/design/security.md#passkeys).
 */
const notAccepted = (name: string): StatusError =>
  invalid({ ...Interaction, kind: 'Login' }, name, [
    invalidValue('spec.credential', 'this passkey was not accepted'),
  ]);

/**
 * Returns the 422 for a passkey whose backup eligibility changed, which never happens to one (WebAuthn
 * 3 §6.1.3). The signature was right, so only the person learns of it.
 */
const changed = (name: string): StatusError =>
  invalid({ ...Interaction, kind: 'Login' }, name, [
    invalidValue(
      'spec.credential.response.authenticatorData',
      'whether this passkey can be backed up has changed; sign in by email, remove it and add it again',
    ),
  ]);

/**
 * Signs in by a passkey. Takes the challenge in a commit of its own, verifies the assertion, then
 * reads the account and the passkey again in the commit that signs in.
 */
export async function signInByPasskey(
  call: Call,
  name: string,
  credential: Assertion,
  decision: Decision,
): Promise<InteractionObject> {
  const challenge = call.ports.signIns.challengeOf(await takeLoginChallenge(call, name));
  const passkey = await call.store(Passkey).byUnique('credential', credential.id);
  const account = passkey && (await call.store(Account).get(passkey.status.account));
  const known = passkey && account && { passkey, account };
  if (known) call.ports.noteSignIn({ address: canonicalAddress(account.status.email.address) });
  const verdict = await verifyAssertion(
    credential,
    { challenge, origin: call.settings.baseURL, rpID: call.settings.rpID },
    known && {
      publicKey: passkey.internal.publicKey,
      counter: passkey.internal.counter,
      deviceType: passkey.status.deviceType,
      userHandle: account.internal.userHandle,
    },
  );
  if (!verdict.verified) {
    if (known && verdict.why === counterNotIncreased) auditPossibleClone(call, known);
    if (verdict.why === backupEligibilityChanged) throw changed(name);
    throw notAccepted(name);
  }
  const outcome = await call.change((tx) =>
    completeSignIn(tx, call, name, { known: known!, verdict, decision }),
  );
  if (outcome instanceof StatusError) throw outcome;
  call.ports.rememberBrowser(known!.account.status.email.address);
  return outcome;
}

/**
 * Audits a signature counter that went back, which may be a cloned authenticator (WebAuthn 3
 * §6.1.1).
 */
function auditPossibleClone(call: Call, { passkey, account }: KnownPasskey): void {
  call.ports.audit('passkey.counter', {
    account: account.metadata.name,
    passkey: passkey.metadata.name,
  });
}

function takeLoginChallenge(call: Call, name: string): Promise<TakenChallenge> {
  return call.change(async (tx) => {
    assertPhase('LoginRequired', (await tx.get(Interaction, name))!, call);
    let taken!: TakenChallenge;
    await tx.update(Interaction, name, ({ internal }) => {
      taken = takeChallenge(internal, 'Authenticate', call.now);
    });
    return taken;
  });
}

/** Records the use of the passkey, and the phase or the refusal of the person, in one commit. */
async function completeSignIn(
  tx: Transaction,
  call: Call,
  name: string,
  { known, verdict, decision }: { known: KnownPasskey; verdict: Verified; decision: Decision },
): Promise<InteractionObject | StatusError> {
  const interaction = (await tx.get(Interaction, name))!;
  assertPhase('LoginRequired', interaction, call);
  const passkey = await tx.get(Passkey, known.passkey.metadata.name);
  const account = await tx.get(Account, known.account.metadata.name);
  if (!passkey || !account || passkey.metadata.uid !== known.passkey.metadata.uid) {
    throw notAccepted(name);
  }
  if (!isCounterIncreased(passkey.internal.counter, verdict.counter)) {
    auditPossibleClone(call, known);
    throw notAccepted(name);
  }
  await decision.recordIn?.(tx);
  await tx.update(Passkey, passkey.metadata.name, ({ status, internal }) => {
    status.lastUsedTimestamp = toTimestamp(call.now);
    status.backedUp = verdict.backedUp;
    internal.counter = verdict.counter;
  });
  const denial = await denialReason(tx, call, interaction, {
    existingAccount: account,
    name: account.metadata.name,
    address: account.status.email.address,
    method: 'Passkey',
    passkey: passkey.status,
  });
  if (denial) {
    await tx.update(Interaction, name, consumeProof);
    return denial;
  }
  const signedIn = await tx.update(Account, account.metadata.name, ({ status }) => {
    status.lastSignInTimestamp = toTimestamp(call.now);
  });
  await acceptInvitation(tx, call, signedIn);
  const isFullStrength = hasFullStrength(passkey.status, call.now);
  if (isFullStrength) await cancelWaitingRecovery(tx, call, account.metadata.name);
  return tx.update(Interaction, name, (next) =>
    authenticate(next, signedIn, { method: 'Passkey', isFullStrength }, call),
  );
}
