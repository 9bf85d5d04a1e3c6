import { refusalMessage } from '../../registry/authorizer.js';
import type { Call, Decision, ObjectOf, Transaction } from '../../registry/kind.js';
import { forbidden, type StatusError } from '../../registry/status.js';
import { accountSummary, type Account } from '../account/account.js';
import { claimsOf } from '../session/acr.js';
import { endChallenges } from '../signin/passkey-challenge.js';
import { countsInFull, type PasskeyStrength } from '../passkey/strength.js';
import type { Method } from '../session/session.js';
import { Interaction, type InteractionObject } from './interaction.js';
import { accountFacts, signedInNow } from '../account/policy-facts.js';

type AccountObject = ObjectOf<typeof Account>;

/**
 * Who was proven, and how; `known` where there is an Account. A passkey counts in full from
 * `fullStrengthTimestamp` on.
 */
interface Proven {
  readonly known: AccountObject | undefined;
  readonly name: string;
  readonly address: string;
  readonly method: Method;
  readonly passkey?: PasskeyStrength;
}

/**
 * Why a person now proven is refused, if they are: a disabled account, or the policy's signUp and
 * signIn (docs/design/security.md#order-of-login-checks). What permits it becomes part of the
 * commit, or else what refuses.
 */
export async function denialReason(
  tx: Transaction,
  call: Call,
  { metadata, spec, internal }: InteractionObject,
  { known, name, address, method, passkey }: Proven,
): Promise<StatusError | undefined> {
  if (known?.status.disabledTimestamp)
    return forbidden('this account is disabled', Interaction, metadata.name);
  const inFull = passkey === undefined || countsInFull(passkey, call.now);
  const { demandedAcr } = internal;
  if (demandedAcr !== undefined && claimsOf(method, inFull).acr !== demandedAcr)
    return forbidden(
      `The app asks for a stronger sign-in.${whenFull(passkey)}`,
      Interaction,
      metadata.name,
    );
  const person = { account: known && name, address, passkeys: known?.status.passkeys ?? 0 };
  const facts = {
    client: spec.client,
    ...(await accountFacts(call, person, signedInNow(method, call.now, inFull))),
    ...(!known && { becomes: name }),
  };
  const permits: Decision[] = [];
  for (const action of known ? ['signIn'] : ['signUp', 'signIn']) {
    const decision = await call.decide(action, { ...facts, record: 'change' });
    if (decision.allowed) {
      permits.push(decision);
      continue;
    }
    await decision.join?.(tx);
    const isTooWeak =
      !inFull &&
      (await call.decide(action, { ...facts, ...signedInNow(method, call.now), record: 'never' }))
        .allowed;
    const why = `${refusalMessage(decision)}${isTooWeak ? whenFull(passkey) : ''}`;
    return forbidden(why, Interaction, metadata.name, {
      ...(decision.name && { policyDecision: decision.name }),
    });
  }
  for (const decision of permits) await decision.join?.(tx);
  return undefined;
}

/** From when a passkey counts in full that does not yet, as a sentence to follow another. */
const whenFull = (passkey: PasskeyStrength | undefined): string =>
  passkey === undefined
    ? ''
    : ' This passkey was added after a sign-in by mail. It counts in full from ' +
      `${passkey.fullStrengthTimestamp} on; until then, use another passkey.`;

/** Marks the emailed proof as used, where there is one. */
export function consumeProof({ internal, status }: InteractionObject): void {
  if (internal.email) internal.email.state = 'Used';
  delete status.emailChallenge;
}

/**
 * How a person was proven: by which method, whether a passkey counts in full, and whether the
 * account was made by it.
 */
interface Proof {
  readonly method: Method;
  readonly inFull?: boolean;
  readonly isSignUp?: boolean;
}

/**
 * Moves the record on: the person is proven, every other challenge of this sign-in is over, and the
 * library has the result.
 */
export async function authenticate(
  tx: Transaction,
  interaction: InteractionObject,
  account: AccountObject,
  { method, inFull = true, isSignUp = false }: Proof,
  call: Call,
): Promise<void> {
  const { internal, status } = interaction;
  consumeProof(interaction);
  endChallenges(internal);
  status.phase = 'Authenticated';
  status.account = accountSummary(account);
  const { acr, amr } = claimsOf(method, inFull);
  const isKnownBrowser = call.ports.knowsBrowser(account.status.email.address);
  internal.login = {
    account: account.metadata.name,
    method,
    seconds: Math.floor(call.now / 1000),
    acr,
    amr: [...amr],
    passkeys: account.status.passkeys,
    ...(isSignUp && { isSignUp }),
    ...(isKnownBrowser && { isKnownBrowser }),
  };
  internal.isHandedOver = await call.ports.stageResult(interaction, tx);
}
