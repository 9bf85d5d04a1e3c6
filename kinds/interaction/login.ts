import { z } from 'zod';
import { defineAction } from '../../registry/action.js';
import { refusalDetails, refusalMessage } from '../../registry/authorizer.js';
import type { Call, Decision, Transaction } from '../../registry/kind.js';
import { perMinute } from '../../registry/limits/rate-limit.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { invalidValue } from '../../registry/status/field-errors.js';
import { expired, forbidden, invalid, StatusError } from '../../registry/status/status.js';
import { randomName } from '../../registry/store/random-name.js';
import { digest } from '../../security/keyring.js';
import { acceptInvitation } from '../access/invitation/accept.js';
import { isTakenAddress } from '../access/invitation/taken-address.js';
import { Account, createAccount } from '../people/account/account.js';
import { Assertion } from '../people/passkey/webauthn/credential.js';
import type { Method } from '../people/session/session.js';
import { emailedCodeSchema, isCode, withoutSeparators } from '../signin/code-format.js';
import {
  assertCodesNotLocked,
  countWrongCode,
  requesterOf,
  wrongCodes,
} from '../signin/code-throttle.js';
import { canonicalAddress } from '../signin/email-address.js';
import { browserTimeZone } from '../signin/mail-language.js';
import { linkToken } from '../signin/schema-types.js';
import { withSpentLimit } from '../signin/with-spent-limit.js';
import { authenticate, consumeProof, denialReason } from './complete-login.js';
import { codeMacInput, giveBackMails } from './email-challenge.js';
import { Interaction, type InteractionObject } from './interaction.js';
import { noteFailure } from './note-failure.js';
import { observeAttempt } from './observe-attempt.js';
import { signInByPasskey } from './passkey-login.js';
import { assertNotExpired, wrongPhase } from './preconditions.js';

type AccountObject = NonNullable<(typeof Account)['$object']>;

/** Limits attempts to sign in, by client network. */
export const loginLimit = perMinute('login', 'proofsPerNetwork');

/**
 * POST login: signs in by an emailed code or link or by a passkey
 * (docs/design/security.md#order-of-login-checks).
 */
export const login = defineAction({
  of: Interaction,
  subresource: 'login',
  verb: 'create',
  kind: 'Login',
  limit: loginLimit,
  description: 'Signs in.',
  spec: z.discriminatedUnion('method', [
    z.object({
      method: z.literal('EmailCode').describe('By the emailed code.'),
      code: emailedCodeSchema(),
    }),
    z.object({
      method: z.literal('EmailLink').describe('By the emailed link.'),
      token: linkToken().describe('The token from the emailed link.'),
    }),
    z.object({
      method: z.literal('Passkey').describe('By a passkey.'),
      credential: Assertion.describe('The WebAuthn assertion from the browser.'),
    }),
  ]),
  run: (call, interaction, { spec }) =>
    observeAttempt(
      call,
      interaction,
      attemptFacts(interaction, spec.method),
      call.ports.signIns.countAttempt(
        spec.method,
        interaction.internal.created,
        call.now,
        loginAttempt(call, interaction, spec),
      ),
    ),
});

/** Returns the facts of an attempt for the logs. The address of a passkey is known after its lookup. */
const attemptFacts = ({ internal }: InteractionObject, method: Method) => ({
  method,
  address: method === 'Passkey' ? undefined : internal.email?.address,
});

/** The credential of a sign-in. */
type Proof =
  | { method: 'EmailCode'; code: string }
  | { method: 'EmailLink'; token: string }
  | { method: 'Passkey'; credential: Assertion };

async function loginAttempt(
  call: Call,
  interaction: InteractionObject,
  proof: Proof,
): Promise<InteractionObject> {
  const { name } = interaction.metadata;
  const decision = await call.decide('interactions/login', {
    kind: Interaction,
    name,
    object: interaction,
    method: proof.method,
  });
  if (!decision.allowed) {
    throw forbidden(refusalMessage(decision), Interaction, name, refusalDetails(decision));
  }
  const credential = proof.method === 'Passkey' ? proof.credential.id : undefined;
  const work = signInBy(call, interaction, proof, decision);
  return noteFailure(call, interaction, { decision, credential }, work);
}

/** Signs in by a proof that policy lets the browser present. */
async function signInBy(
  call: Call,
  interaction: InteractionObject,
  proof: Proof,
  decision: Decision,
): Promise<InteractionObject> {
  const { name } = interaction.metadata;
  if (interaction.internal.passkeyOnly && proof.method !== 'Passkey') {
    throw forbidden('this sign-in must be by a passkey', Interaction, name);
  }
  assertNotExpired(interaction, call);
  if (proof.method === 'Passkey') return signInByPasskey(call, name, proof.credential, decision);
  const outcome =
    proof.method === 'EmailLink'
      ? await signInByLink(call, interaction, proof.token, decision)
      : await signInByCode(call, name, withoutSeparators(proof.code), decision);
  if (outcome instanceof StatusError) throw outcome;
  await giveBackMails(call, outcome.internal.countedMails);
  call.ports.rememberBrowser(outcome.internal.email!.address);
  return outcome;
}

/**
 * Returns the challenge that a link belongs to. Throws 403 for the link of another sign-in and 410
 * for an unknown one; neither is used up.
 */
async function challengeOfLink(
  call: Call,
  { internal, metadata }: InteractionObject,
  token: string,
): Promise<string> {
  const hash = digest(token);
  if (internal.email?.link === hash) return internal.email.id;
  if (internal.replaced.some((former) => former.link === hash)) {
    throw proofExpired('replaced', metadata.name);
  }
  const owner = await call.store(Interaction).byUnique('link', hash);
  throw owner
    ? forbidden('the emailed link belongs to another sign-in', Interaction, metadata.name)
    : proofExpired('unknown', metadata.name);
}

const invalidReasons = {
  none: 'no code was requested',
  unknown: 'the link is unknown',
  used: 'it was already used',
  replaced: 'a newer one was sent; this cost no try',
  spent: 'no tries are left',
  expired: 'it has expired',
};
const proofExpired = (why: keyof typeof invalidReasons, name: string): StatusError =>
  expired(`The emailed code or link is not valid: ${invalidReasons[why]}.`, Interaction, name);

/**
 * Throws 410 unless a challenge is in force with a try left; then 409 unless the phase is
 * LoginRequired.
 */
function assertChallengeInForce(
  { internal, metadata, status }: InteractionObject,
  now: number,
): void {
  const { email } = internal;
  if (!email) throw proofExpired('none', metadata.name);
  if (email.state === 'Used') throw proofExpired('used', metadata.name);
  if (email.triesLeft <= 0) throw proofExpired('spent', metadata.name);
  if (now > email.expires) throw proofExpired('expired', metadata.name);
  if (status.phase !== 'LoginRequired') throw wrongPhase({ metadata, status } as InteractionObject);
}

/**
 * Throws 422 for text that cannot be the emailed code, with the tries that are left: it does not use
 * up one.
 */
function assertCodeShape({ metadata, status, internal }: InteractionObject, code: string): void {
  const length = status.emailChallenge?.codeLength ?? code.length;
  if (isCode(code, length)) return;
  const { triesLeft } = internal.email!;
  const cause = invalidValue('spec.code', `must be ${length} digits; ${triesLeft} tries left`);
  throw invalid({ ...Interaction, kind: 'Login' }, metadata.name, [cause], { triesLeft });
}

const useTheLink = '; use the emailed link instead';

/** Signs in by an emailed link if its challenge is the one in force. */
async function signInByLink(
  call: Call,
  interaction: InteractionObject,
  token: string,
  decision: Decision,
): Promise<InteractionObject | StatusError> {
  const { name } = interaction.metadata;
  const challenge = await challengeOfLink(call, interaction, token);
  return call.change(async (tx) => {
    const current = (await tx.get(Interaction, name))!;
    assertChallengeInForce(current, call.now);
    if (current.internal.email!.id !== challenge) throw proofExpired('replaced', name);
    return completeSignIn(tx, call, current, { method: 'EmailLink', decision });
  });
}

/**
 * Compares a code and responds only after the resulting commit: the sign-in for a right code, the
 * count for a wrong one. Both change the Interaction, so of concurrent attempts one commits and the
 * others are checked again.
 */
async function signInByCode(
  call: Call,
  name: string,
  code: string,
  decision: Decision,
): Promise<InteractionObject | StatusError> {
  const interaction = (await call.store(Interaction).get(name))!;
  assertChallengeInForce(interaction, call.now);
  assertCodeShape(interaction, code);
  const requester = requesterOf(call, canonicalAddress(interaction.internal.email!.address));
  const limit = wrongCodes(call.settings.limits, requester);
  const { isFree, outcome } = await withSpentLimit(call, limit, () =>
    call.change(async (tx) => {
      const interaction = (await tx.get(Interaction, name))!;
      assertChallengeInForce(interaction, call.now);
      assertCodeShape(interaction, code);
      const email = interaction.internal.email!;
      await assertCodesNotLocked(tx, canonicalAddress(email.address), requester, call, useTheLink);
      if (!email.linkOnly && isCodeOf(call, name, email, code)) {
        return {
          isFree: true,
          outcome: await completeSignIn(tx, call, interaction, { method: 'EmailCode', decision }),
        };
      }
      if (isReplaced(call, interaction, code)) {
        return { isFree: true, outcome: proofExpired('replaced', name) };
      }
      await countWrongCode(tx, canonicalAddress(email.address), requester, call);
      const next = await tx.update(Interaction, name, ({ internal, status }) => {
        const triesLeft = (internal.email!.triesLeft -= 1);
        if (!status.emailChallenge) return;
        status.emailChallenge.triesLeft = triesLeft;
        if (triesLeft <= 0) status.emailChallenge.resendAfterTimestamp = toTimestamp(call.now);
      });
      return { isFree: false, outcome: wrongCode(next) };
    }),
  );
  if (isFree) call.refund(limit);
  return outcome;
}

/** Returns true if the code is the one that was emailed for the challenge. */
const isCodeOf = (
  call: Call,
  name: string,
  challenge: { readonly id: string; readonly code: string },
  code: string,
): boolean =>
  call.keys.macMatches(
    'emailcode',
    codeMacInput(name, challenge.id, code),
    Buffer.from(challenge.code, 'base64url'),
  );

/**
 * Returns true for the code of a replaced challenge. It costs no try, because a person who has two
 * mails did not guess it.
 */
const isReplaced = (
  call: Call,
  { internal, metadata: { name } }: InteractionObject,
  code: string,
): boolean => internal.replaced.some((previous) => isCodeOf(call, name, previous, code));

/** Returns 422 with the tries that are left. */
function wrongCode({ internal, metadata: { name } }: InteractionObject): StatusError {
  const { triesLeft } = internal.email!;
  const cause = invalidValue('spec.code', `wrong code, ${triesLeft} tries left`);
  return invalid({ ...Interaction, kind: 'Login' }, name, [cause], { triesLeft });
}

/**
 * Uses up the proof, creates a missing Account, accepts an Invitation and moves the phase to Authenticated, in one commit.
 * A concurrent request finds the proof already used. A refusal of the person uses it up too.
 */
async function completeSignIn(
  tx: Transaction,
  call: Call,
  interaction: InteractionObject,
  { method, decision }: { method: Method; decision: Decision },
): Promise<InteractionObject | StatusError> {
  const { name } = interaction.metadata;
  await decision.recordIn?.(tx);
  const { address } = interaction.internal.email!;
  const existing = await tx.byUnique(Account, 'email', canonicalAddress(address));
  const isFirst = existing?.status.email.verifiedTimestamp === undefined;
  const isVouchedFor = existing?.internal.isVouchedFor ?? false;
  const isTaken = isFirst && !isVouchedFor && (await isTakenAddress(tx, call, address));
  const how = { method, isSignUp: isFirst && !isTaken, isTakenAddress: isTaken };
  const account = await findOrCreateAccount(tx, call, interaction, method);
  if (!(account instanceof StatusError)) {
    await acceptInvitation(tx, call, account);
    return tx.update(Interaction, name, (next) => authenticate(next, account, how, call));
  }
  const refusedBy = existing === undefined ? account.details?.policyDecision : undefined;
  await tx.update(Interaction, name, (next) => {
    consumeProof(next);
    if (typeof refusedBy === 'string') next.internal.refusedBy = refusedBy;
  });
  return account;
}

/**
 * Updates or creates the Account of the verified address, or returns why policy refuses the person.
 * Decisions about a person are disclosed only after verification.
 */
async function findOrCreateAccount(
  tx: Transaction,
  call: Call,
  interaction: InteractionObject,
  method: Method,
): Promise<AccountObject | StatusError> {
  const { address } = interaction.internal.email!;
  const existingAccount = await tx.byUnique(Account, 'email', canonicalAddress(address));
  const name = existingAccount?.metadata.name ?? randomName(20);
  const denial = await denialReason(tx, call, interaction, {
    existingAccount,
    name,
    address,
    method,
  });
  if (denial) return denial;
  const timeZone = browserTimeZone(call);
  if (existingAccount) {
    return tx.update(Account, name, ({ status, internal }) => {
      if (timeZone !== undefined) internal.timeZone = timeZone;
      status.lastSignInTimestamp = toTimestamp(call.now);
      status.email.verifiedTimestamp = toTimestamp(call.now);
    });
  }
  return createAccount(tx, { name, address, verified: call.now, timeZone });
}
