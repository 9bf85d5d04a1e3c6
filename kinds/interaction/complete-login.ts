import { languageNames } from '../../i18n/languages.js';
import { localText, type Texts } from '../../i18n/local-text.js';
import { Translator } from '../../i18n/translator.js';
import { refusalDetails, refusalMessage, refusalTexts } from '../../registry/authorizer.js';
import type { Call, Decision, ObjectOf, Transaction } from '../../registry/kind.js';
import { fromTimestamp } from '../../registry/schema/timestamp.js';
import { forbidden, type StatusError } from '../../registry/status/status.js';
import { verifiedFacts } from '../access/invitation/verified-person.js';
import { type Account, accountSummary } from '../people/account/account.js';
import { requestedFacts, signedInNow } from '../people/account/policy-facts.js';
import { hasFullStrength, type PasskeyStrength } from '../people/passkey/strength.js';
import { authenticationClaims } from '../people/session/acr.js';
import type { Method } from '../people/session/session.js';
import { browserTimeZone } from '../signin/mail-language.js';
import { clearChallenges } from '../signin/passkey-challenge.js';
import { Interaction, type InteractionObject } from './interaction.js';

type AccountObject = ObjectOf<typeof Account>;

/**
 * The person who was verified, and by which method. A passkey has full strength from
 * `fullStrengthTimestamp` on.
 */
interface VerifiedPerson {
  readonly existingAccount: AccountObject | undefined;
  readonly name: string;
  readonly address: string;
  readonly method: Method;
  readonly passkey?: PasskeyStrength;
}

/**
 * Returns the error if policy or a disabled account refuses a verified person
 * (docs/design/security.md#order-of-login-checks). The decisions become part of the commit either
 * way.
 */
export async function denialReason(
  tx: Transaction,
  call: Call,
  interaction: InteractionObject,
  { existingAccount, name, address, method, passkey }: VerifiedPerson,
): Promise<StatusError | undefined> {
  const { metadata, internal } = interaction;
  if (existingAccount?.status.disabledTimestamp) {
    return forbidden('this account is disabled', Interaction, metadata.name);
  }
  const isFullStrength = passkey === undefined || hasFullStrength(passkey, call.now);
  const { demandedAcr } = internal;
  if (
    demandedAcr !== undefined &&
    authenticationClaims(method, isFullStrength).acr !== demandedAcr
  ) {
    return forbidden(
      `The app asks for a stronger sign-in.${fullStrengthNotice(passkey)}`,
      Interaction,
      metadata.name,
    );
  }
  const person = {
    account: existingAccount && name,
    address,
    passkeys: existingAccount?.status.passkeys ?? 0,
    created: existingAccount && fromTimestamp(existingAccount.metadata.creationTimestamp),
  };
  const signedIn = signedInNow(method, call.now, isFullStrength);
  const facts = {
    ...requestedFacts(interaction),
    ...(await verifiedFacts(tx, call, person, signedIn)),
    ...(!existingAccount && { becomes: name }),
  };
  const allowDecisions: Decision[] = [];
  for (const action of existingAccount ? ['signIn'] : ['signUp', 'signIn']) {
    const decision = await call.decideChange(action, facts);
    if (decision.allowed) {
      allowDecisions.push(decision);
      continue;
    }
    await decision.recordIn?.(tx);
    const isTooWeak =
      !isFullStrength &&
      (await call.decideQuietly(action, { ...facts, ...signedInNow(method, call.now) })).allowed;
    const why = `${refusalMessage(decision)}${isTooWeak ? fullStrengthNotice(passkey) : ''}`;
    return forbidden(why, Interaction, metadata.name, {
      ...refusalDetails(decision),
      ...(isTooWeak && passkey && { messages: withPasskeyNotice(call, decision, passkey) }),
    });
  }
  for (const decision of allowDecisions) await decision.recordIn?.(tx);
  return undefined;
}

/** Returns the sentence that says when the passkey reaches full strength, with a leading space. */
const fullStrengthNotice = (passkey: PasskeyStrength | undefined): string =>
  passkey === undefined
    ? ''
    : ' This passkey was added after a sign-in by mail, or the address was in use before. It ' +
      'counts in full from ' +
      `${passkey.fullStrengthTimestamp} on; until then, use another passkey.`;

/** Returns the message of a refusal with that sentence, by language. */
function withPasskeyNotice(
  call: Call,
  decision: Decision,
  { fullStrengthTimestamp }: PasskeyStrength,
): Texts {
  const texts = refusalTexts(decision) ?? {};
  const message = refusalMessage(decision);
  const languages = new Set([...languageNames().keys(), ...Object.keys(texts)]);
  languages.delete('en');
  return Object.fromEntries(
    [...languages].map((language) => {
      const translator = new Translator([language], browserTimeZone(call));
      const when = translator.date(Date.parse(fullStrengthTimestamp));
      return [
        language,
        `${localText(message, texts, [language]).text} ${translator.text('policy.passkey', { when })}`,
      ];
    }),
  );
}

/** Marks the emailed code and link as used. */
export function consumeProof({ internal, status }: InteractionObject): void {
  if (internal.email) internal.email.state = 'Used';
  delete status.emailChallenge;
}

/**
 * The result of an authentication: its method, whether the passkey has full strength, and whether
 * it created the account, or one at an address that was in use before.
 */
interface Authentication {
  readonly method: Method;
  readonly isFullStrength?: boolean;
  readonly isSignUp?: boolean;
  readonly isTakenAddress?: boolean;
}

/** Moves the Interaction to Authenticated and ends its other challenges. */
export function authenticate(
  interaction: InteractionObject,
  account: AccountObject,
  { method, isFullStrength = true, isSignUp = false, isTakenAddress = false }: Authentication,
  call: Call,
): void {
  const { internal, status } = interaction;
  consumeProof(interaction);
  clearChallenges(internal);
  status.phase = 'Authenticated';
  status.account = accountSummary(account);
  const { acr, amr } = authenticationClaims(method, isFullStrength);
  const isKnownBrowser = call.ports.knowsBrowser(account.status.email.address);
  internal.login = {
    account: account.metadata.name,
    method,
    seconds: Math.floor(call.now / 1000),
    milliseconds: call.now,
    acr,
    amr: [...amr],
    passkeys: account.status.passkeys,
    ...(isSignUp && { isSignUp }),
    ...(isTakenAddress && { isTakenAddress }),
    ...(isKnownBrowser && { isKnownBrowser }),
  };
}
