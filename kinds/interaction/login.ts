import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { refusalMessage } from '../../registry/authorizer.js';
import { digest } from '../../security/keyring.js';
import { defineAction } from '../../registry/action.js';
import type { Call, Decision, Transaction } from '../../registry/kind.js';
import { perMinute } from '../../registry/rate-limit.js';
import {
  expired,
  forbidden,
  invalid,
  StatusError,
  tooManyRequests,
  type Cause,
} from '../../registry/status.js';
import { randomName } from '../../registry/transaction.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { Account } from '../account/account.js';
import { canonical } from '../signin/email-address.js';
import { emailedCode } from '../signin/code-format.js';
import { Assertion } from '../passkey/webauthn/credential.js';
import { spending } from '../signin/spending.js';
import type { Method } from '../session/session.js';
import { codeData } from './email-challenge.js';
import { authenticate, denialReason, consumeProof } from './complete-login.js';
import { Interaction, type InteractionObject } from './interaction.js';
import { observed } from './observe-attempt.js';
import { enterByPasskey } from './passkey-login.js';
import { assertNotExpired, wrongPhase } from './preconditions.js';
import { askerOf, countTry, lockedUntil, wrongCodes, type Asker } from '../signin/code-throttle.js';
import { describePattern } from '../../registry/pattern.js';

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
      code: emailedCode(),
    }),
    z.object({
      method: z.literal('EmailLink').describe('By the emailed link.'),
      token: z
        .string()
        .regex(describePattern(/^[A-Za-z0-9_-]{43}$/, 'must be the token of an emailed link'))
        .describe('The token from the emailed link.'),
    }),
    z.object({
      method: z.literal('Passkey').describe('By a passkey.'),
      credential: Assertion.describe('The answer of the browser.'),
    }),
  ]),
  run: (call, interaction, { spec }) =>
    observed(
      call,
      interaction,
      triedBy(interaction, spec.method),
      call.ports.signIns.counted(
        spec.method,
        interaction.internal.created,
        call.now,
        attempt(call, interaction, spec),
      ),
    ),
});

/** How this is tried, and with which address; a passkey says itself whose it is. */
const triedBy = ({ internal }: InteractionObject, method: Method) => ({
  method,
  address: method === 'Passkey' ? undefined : internal.email?.address,
});

/** What a person proves themselves by. */
type Proof =
  | { method: 'EmailCode'; code: string }
  | { method: 'EmailLink'; token: string }
  | { method: 'Passkey'; credential: Assertion };

async function attempt(
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
  if (!decision.allowed)
    throw forbidden(refusalMessage(decision), Interaction, name, {
      ...(decision.name && { policyDecision: decision.name }),
    });
  if (interaction.internal.passkeyOnly && proof.method !== 'Passkey')
    throw forbidden('this sign-in must be by a passkey', Interaction, name);
  assertNotExpired(interaction, call);
  if (proof.method === 'Passkey') return enterByPasskey(call, name, proof.credential, decision);
  const outcome =
    proof.method === 'EmailLink'
      ? await enterByLink(call, interaction, proof.token, decision)
      : await enterByCode(call, name, proof.code, decision);
  if (outcome instanceof StatusError) throw outcome;
  call.ports.rememberBrowser(outcome.internal.email!.address);
  return outcome;
}

/**
 * The challenge a link belongs to: 403 for the link of another sign-in, 410 for one that is
 * unknown; neither is spent.
 */
async function challengeOfLink(
  call: Call,
  { internal, metadata }: InteractionObject,
  token: string,
): Promise<string> {
  const hash = digest(token);
  if (internal.email?.link === hash) return internal.email.id;
  if (internal.replaced.some((one) => one.link === hash)) throw over('replaced', metadata.name);
  const owner = await call.store(Interaction).byUnique('link', hash);
  throw owner
    ? forbidden('the emailed link belongs to another sign-in', Interaction, metadata.name)
    : over('unknown', metadata.name);
}

const sentences = {
  none: 'no code was asked for',
  unknown: 'this link is not known any more',
  used: 'it was used already',
  replaced: 'a newer one was sent',
  spent: 'there are no tries left',
  expired: 'it has expired',
};
const over = (why: keyof typeof sentences, name: string): StatusError =>
  expired(`The emailed code or link is over: ${sentences[why]}.`, Interaction, name);

/** 410 unless a challenge is in force, with a try left; then 409 unless the phase is LoginRequired. */
function refuseChallenge({ internal, metadata, status }: InteractionObject, now: number): void {
  const { email } = internal;
  if (!email) throw over('none', metadata.name);
  if (email.state === 'Used') throw over('used', metadata.name);
  if (email.triesLeft <= 0) throw over('spent', metadata.name);
  if (now > email.expires) throw over('expired', metadata.name);
  if (status.phase !== 'LoginRequired') throw wrongPhase({ metadata, status } as InteractionObject);
}

/**
 * 422 for a code of another length than the one that was sent; that is no guess, and takes no try.
 */
function refuseLength({ metadata, status }: InteractionObject, code: string): void {
  const length = status.emailChallenge?.codeLength ?? code.length;
  if (code.length === length) return;
  const cause: Cause = {
    reason: 'FieldValueInvalid',
    field: 'spec.code',
    message: `Invalid value: must be ${length} digits`,
  };
  throw invalid({ ...Interaction, kind: 'Login' }, metadata.name, [cause]);
}

/** Signs in by an emailed link, only while its challenge is the one in force. */
async function enterByLink(
  call: Call,
  interaction: InteractionObject,
  token: string,
  decision: Decision,
): Promise<InteractionObject | StatusError> {
  const { name } = interaction.metadata;
  const challenge = await challengeOfLink(call, interaction, token);
  return call.change(async (tx) => {
    const held = (await tx.get(Interaction, name))!;
    refuseChallenge(held, call.now);
    if (held.internal.email!.id !== challenge) throw over('replaced', name);
    return enter(tx, call, held, { method: 'EmailLink', decision });
  });
}

/**
 * Compares a code and answers only after the commit that follows from it: the sign-in of a right
 * code, the count of a wrong one. Either changes the Interaction, so that of codes tried at once
 * one commits and the others are judged again.
 */
async function enterByCode(
  call: Call,
  name: string,
  code: string,
  decision: Decision,
): Promise<InteractionObject | StatusError> {
  const held = (await call.store(Interaction).get(name))!;
  refuseChallenge(held, call.now);
  refuseLength(held, code);
  const asker = askerOf(call, canonical(held.internal.email!.address));
  const limit = wrongCodes(call.settings.limits, asker);
  const { isRight, outcome } = await spending(call, limit, () =>
    call.change(async (tx) => {
      const held = (await tx.get(Interaction, name))!;
      refuseChallenge(held, call.now);
      refuseLength(held, code);
      const email = held.internal.email!;
      await refuseLocked(tx, call, canonical(email.address), asker);
      if (!email.linkOnly && isCodeOf(call, name, email, code))
        return {
          isRight: true,
          outcome: await enter(tx, call, held, { method: 'EmailCode', decision }),
        };
      await countTry(tx, canonical(email.address), asker, call);
      const next = await tx.update(Interaction, name, ({ internal, status }) => {
        internal.email!.triesLeft -= 1;
        if (status.emailChallenge) status.emailChallenge.triesLeft = internal.email!.triesLeft;
      });
      return { isRight: false, outcome: wrongCode(call, next, code) };
    }),
  );
  if (isRight) call.giveBack(limit);
  return outcome;
}

/** 429 while codes rest for an address. */
async function refuseLocked(
  tx: Transaction,
  call: Call,
  address: string,
  asker: Asker,
): Promise<void> {
  const rests = await lockedUntil(tx, address, asker, call);
  if (rests > 0)
    throw tooManyRequests(
      Math.ceil((rests - call.now) / 1000),
      'too many wrong codes for this address; use the emailed link instead',
    );
}

/** Whether a code is the one that was sent with a challenge. */
const isCodeOf = (
  call: Call,
  name: string,
  challenge: { readonly id: string; readonly code: string },
  code: string,
): boolean =>
  call.keys.macMatches(
    'emailcode',
    codeData(name, challenge.id, code),
    Buffer.from(challenge.code, 'base64url'),
  );

/** 410 for the code of a challenge that was replaced, else 422 with the tries left. */
function wrongCode(
  call: Call,
  { internal, metadata: { name } }: InteractionObject,
  code: string,
): StatusError {
  if (internal.replaced.some((former) => isCodeOf(call, name, former, code)))
    return over('replaced', name);
  const { triesLeft } = internal.email!;
  const cause: Cause = {
    reason: 'FieldValueInvalid',
    field: 'spec.code',
    message: `Invalid value: wrong code, ${triesLeft} tries left`,
  };
  return invalid({ ...Interaction, kind: 'Login' }, name, [cause], { triesLeft });
}

/**
 * One commit: the proof is used, the Account made if new, the phase Authenticated; anyone who comes
 * second finds it used. A refusal of the person uses it up all the same.
 */
async function enter(
  tx: Transaction,
  call: Call,
  held: InteractionObject,
  { method, decision }: { method: Method; decision: Decision },
): Promise<InteractionObject | StatusError> {
  const { name } = held.metadata;
  await decision.join?.(tx);
  const { address } = held.internal.email!;
  const isSignUp = (await tx.byUnique(Account, 'email', canonical(address))) === undefined;
  const account = await accountOf(tx, call, held, method);
  if (!(account instanceof StatusError))
    return tx.update(Interaction, name, (next) =>
      authenticate(tx, next, account, { method, isSignUp }, call),
    );
  const refusedBy = isSignUp ? account.details?.policyDecision : undefined;
  await tx.update(Interaction, name, (next) => {
    consumeProof(next);
    if (typeof refusedBy === 'string') next.internal.refusedBy = refusedBy;
  });
  return account;
}

/**
 * The Account of the proven address, made when there is none, or why this person is refused; what
 * policy thinks of them is said only here.
 */
async function accountOf(
  tx: Transaction,
  call: Call,
  interaction: InteractionObject,
  method: Method,
): Promise<AccountObject | StatusError> {
  const { address } = interaction.internal.email!;
  const known = await tx.byUnique(Account, 'email', canonical(address));
  const name = known?.metadata.name ?? randomName(20);
  const refused = await denialReason(tx, call, interaction, { known, name, address, method });
  if (refused) return refused;
  if (known)
    return tx.update(Account, name, ({ status }) => {
      status.lastSignInTimestamp = toTimestamp(call.now);
      status.email.verifiedTimestamp = toTimestamp(call.now);
    });
  return tx.create(Account, {
    metadata: { name },
    spec: {},
    status: {
      email: { address, verifiedTimestamp: toTimestamp(call.now) },
      setup: { complete: false, missing: [] },
      passkeys: 0,
      lastSignInTimestamp: toTimestamp(call.now),
    },
    internal: { userHandle: randomBytes(64).toString('base64url') },
  });
}
