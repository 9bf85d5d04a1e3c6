import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { MailOrder } from '../../mail/messages.js';
import { defineAction } from '../../registry/action.js';
import { refusalDetails, refusalMessage } from '../../registry/authorizer.js';
import type { Call, ObjectOf, Settings, Transaction } from '../../registry/kind.js';
import { perMinute } from '../../registry/limits/rate-limit.js';
import { toLaterTimestamp, toTimestamp } from '../../registry/schema/timestamp.js';
import { invalidValue } from '../../registry/status/field-errors.js';
import {
  badRequest,
  expired,
  forbidden,
  invalid,
  StatusError,
  tooManyRequestsUntil,
} from '../../registry/status/status.js';
import { isTakenAddress } from '../access/invitation/taken-address.js';
import { verifiedFacts } from '../access/invitation/verified-person.js';
import { apiVersion } from '../api-version.js';
import {
  assertResendAllowed,
  countedMail,
  giveBackMails,
  mailLimits,
} from '../interaction/email-challenge.js';
import { type CountedMail, maxCountedMails } from '../interaction/schema.js';
import { Account } from '../people/account/account.js';
import { revokeOtherSessions } from '../people/account/end-sessions.js';
import { requestedFacts, signedInNow } from '../people/account/policy-facts.js';
import { operators } from '../people/group/group.js';
import { delayAllPasskeys } from '../people/passkey/delay-strength.js';
import { phishingResistant } from '../people/session/acr.js';
import { accountPageClient } from '../signin/account-page.js';
import {
  codeLength,
  emailedCodeSchema,
  isCode,
  newCode,
  withoutSeparators,
} from '../signin/code-format.js';
import {
  areCodesLocked,
  assertCodesNotLocked,
  countWrongCode,
  requesterOf,
  wrongCodes,
} from '../signin/code-throttle.js';
import {
  canonicalAddress,
  emailAddress,
  isWithinLengths,
  newAddressFaults,
} from '../signin/email-address.js';
import { mailLanguage } from '../signin/mail-language.js';
import { mailPerson } from '../signin/mail-person.js';
import { requireRecentAuthentication } from '../signin/recent-sign-in.js';
import { timestamp } from '../signin/schema-types.js';
import { describeBrowser } from '../signin/user-agent.js';
import { withSpentLimit } from '../signin/with-spent-limit.js';
import {
  type Challenge,
  readChallenge,
  removeChallenge,
  replaceChallenge,
  type SentCode,
  writeChallenge,
} from './new-address-challenge.js';

type AccountObject = ObjectOf<typeof Account>;

const EmailChallenge = z.object({
  apiVersion: z.string().describe('Group and version.'),
  kind: z.literal('EmailChallenge').describe('The kind.'),
  spec: z
    .object({ email: z.string().describe('The address that the code was sent to.') })
    .describe('The request.'),
  status: z
    .object({
      sentTimestamp: timestamp().describe('When it was sent.'),
      expirationTimestamp: timestamp().describe('When the code expires.'),
      resendAfterTimestamp: timestamp().describe('When the next email may be requested.'),
      triesLeft: z.number().int().describe('The number of tries that are left.'),
      codeLength: codeLength(),
      sender: z.string().describe('The sender address of the email.'),
    })
    .describe('The state of the code.'),
});

const codeLimit = perMinute('newaddress', 'proofsPerNetwork');

const codeMacInput = (
  session: string,
  { id, address }: { id: string; address: string },
  code: string,
): string => `${session}\0${id}\0${canonicalAddress(address)}\0${code}`;

/**
 * Returns the caller's session, which replaces the interaction. Throws 400 without one, because the
 * code must be entered in a browser.
 */
function sessionOf({ caller }: Call, name: string): string {
  if (caller.type !== 'Account' || caller.account !== name || caller.session === undefined) {
    throw badRequest('only the owner can change the address, in a browser that is signed in');
  }
  return caller.session;
}

/**
 * POST accounts/~/emailchallenge: emails a code to the new address. The response is the same
 * whether or not the address belongs to an account (docs/design/api.md#change-of-address). One
 * commit holds the challenge, the mail and every limit except that of the client network.
 */
export const newAddressChallenge = defineAction({
  of: Account,
  subresource: 'emailchallenge',
  verb: 'create',
  kind: 'EmailChallenge',
  answers: { kind: 'EmailChallenge', schema: EmailChallenge },
  description: 'Emails a code to the new address of the account.',
  spec: z.object({ email: emailAddress().describe('The address to send the code to.') }),
  async run(call, { metadata: { name }, spec, status: { passkeys } }, { spec: { email } }) {
    const session = sessionOf(call, name);
    const { limits } = call.settings;
    const requester = requesterOf(call, canonicalAddress(email));
    const mails = mailLimits(limits, requester);
    if (!isWithinLengths(email)) {
      throw invalid({ ...Account, kind: 'EmailChallenge' }, name, [
        invalidValue('spec.email', 'must be an email address'),
      ]);
    }
    const faults = newAddressFaults(email, 'spec.email');
    if (faults.length > 0) throw invalid({ ...Account, kind: 'EmailChallenge' }, name, faults);
    requireRecentAuthentication(call, Account, name, passkeys);
    await assertCodesAccepted(call);
    const [code, id] = [newCode(limits), randomUUID()];
    const challenge: Challenge = {
      id,
      address: email,
      code: call.keys
        .mac('emailcode', codeMacInput(session, { id, address: email }, code))
        .toString('base64url'),
      sent: call.now,
      length: code.length,
      expires: call.now + limits.emailCodeLifetime,
      triesLeft: limits.emailCodeTries,
    };
    await withSpentLimit(call, mails.network, () =>
      call.change(async (tx) => {
        const previous = await readChallenge(tx, session);
        assertResendAllowed(previous && { sent: previous.sent }, call);
        await assertCodesNotLocked(tx, canonicalAddress(email), requester, call);
        for (const limit of mails.address) await tx.spend(limit, canonicalAddress(email));
        await tx.spend(mails.interaction, session);
        await replaceChallenge(tx, session, {
          ...challenge,
          replaced: earlierCodes(previous),
          countedMails: withMail(previous, countedMail(call, requester)),
        });
        const order: MailOrder = {
          to: email,
          newAddress: {
            code,
            host: new URL(call.settings.baseURL).host,
            browser: describeBrowser(call.request.userAgent),
            now: call.now,
            ends: challenge.expires,
          },
          session,
          ...mailLanguage(call, spec),
        };
        await tx.enqueue('mail', order, challenge.expires, { id });
      }),
    );
    return {
      apiVersion,
      kind: 'EmailChallenge',
      spec: { email },
      status: statusOf(challenge, call.settings),
    };
  },
});

/** Throws 429 while no code of the whole service is accepted: this mail has no link instead. */
async function assertCodesAccepted(call: Call): Promise<void> {
  if (!(await areCodesLocked(call))) return;
  const { wrongCodeWindow } = call.settings.limits;
  const windowEnd = (Math.floor(call.now / wrongCodeWindow) + 1) * wrongCodeWindow;
  throw tooManyRequestsUntil(windowEnd, call.now, 'too many wrong codes, please try again later');
}

const statusOf = (
  { sent, expires, triesLeft, length }: Challenge,
  { emailFrom, limits: { emailResendWait } }: Pick<Settings, 'emailFrom' | 'limits'>,
): z.infer<typeof EmailChallenge>['status'] => ({
  sentTimestamp: toTimestamp(sent),
  expirationTimestamp: toTimestamp(expires),
  resendAfterTimestamp: toLaterTimestamp(sent + emailResendWait),
  triesLeft,
  codeLength: length,
  sender: emailFrom,
});

/**
 * POST accounts/~/email: changes the account's address after a right code. Notifies the old address
 * and ends other sessions.
 */
export const newAddress = defineAction({
  of: Account,
  subresource: 'email',
  verb: 'create',
  kind: 'Email',
  limit: codeLimit,
  description: 'Changes the address of the account to the one that received the code.',
  spec: z.object({ code: emailedCodeSchema() }),
  async run(call, { metadata: { name }, status: { passkeys } }, { spec: { code } }) {
    const session = sessionOf(call, name);
    requireRecentAuthentication(call, Account, name, passkeys);
    const outcome = await verifyCode(call, name, session, withoutSeparators(code), (tx, address) =>
      changeAddress(tx, call, name, address),
    );
    if (outcome instanceof StatusError) throw outcome;
    return outcome;
  },
});

/**
 * Sets a verified address. If it differs from the old one, ends other sessions and the offline access
 * of apps. If it was in use before, the passkeys wait, and a session that counts in full ends, too
 * (docs/design/security.md#strength-at-an-address). Returns the refusal if the policy would not let a
 * person sign up with it.
 */
async function changeAddress(
  tx: Transaction,
  call: Call,
  name: string,
  address: string,
): Promise<AccountObject | StatusError> {
  const account = (await tx.get(Account, name))!;
  requireRecentAuthentication(call, Account, name, account.status.passkeys);
  if (canonicalAddress(account.status.email.address) !== canonicalAddress(address)) {
    const refusal = await signUpRefusal(tx, call, name, address);
    if (refusal) return refusal;
    if (await isTakenAddress(tx, call, address)) {
      await takeAddress(tx, call, name);
    } else {
      await revokeOtherSessions(tx, call, name, { endsApps: true });
    }
    const addressChanged = {
      host: new URL(call.settings.baseURL).host,
      browser: describeBrowser(call.request.userAgent),
      now: call.now,
    };
    await mailPerson(tx, call, account, { addressChanged });
  }
  return tx.update(Account, name, ({ status }) => {
    status.email = { address, verifiedTimestamp: toTimestamp(call.now) };
  });
}

/**
 * Asks the policy whether the person may have an account with a new address (signUp): the question of
 * a newcomer who verified it by code, at the account page. So nothing that the account has counts but
 * its name. The decision is recorded in this commit.
 */
async function signUpRefusal(
  tx: Transaction,
  call: Call,
  name: string,
  address: string,
): Promise<StatusError | undefined> {
  const newcomer = { account: undefined, address, passkeys: 0 };
  const facts = await verifiedFacts(tx, call, newcomer, signedInNow('EmailCode', call.now));
  const { groups } = facts;
  const operator = groups.includes(operators);
  const decision = await call.decideChange('signUp', {
    caller: { type: 'Account', account: name, email: canonicalAddress(address), groups, operator },
    ...facts,
    ...requestedFacts({ spec: { client: accountPageClient, scopes: ['openid'] }, internal: {} }),
  });
  await decision.recordIn?.(tx);
  if (decision.allowed) return undefined;
  return forbidden(refusalMessage(decision), Account, name, refusalDetails(decision));
}

/** Makes the account as weak at its next address as the mailbox that it has to show for it. */
async function takeAddress(tx: Transaction, call: Call, name: string): Promise<void> {
  const isFull = call.caller.type === 'Account' && call.caller.assurance === phishingResistant;
  await delayAllPasskeys(tx, call, name);
  await revokeOtherSessions(tx, call, name, { endsApps: true, endsOwn: isFull, max: 0 });
  if (isFull) tx.after(() => call.ports.clearSessionCookie());
}

const codeExpired = (why: string, name: string, details?: { triesLeft: number }): StatusError =>
  expired(`The emailed code is not valid: ${why}.`, Account, name, details);

/** A person who has two mails did not guess the code of the first. */
const replacedCode = (name: string, triesLeft: number): StatusError =>
  codeExpired('a newer one was sent; this cost no try', name, { triesLeft });

/** Returns true if the code is the one that was sent. */
const isCodeOf = (call: Call, session: string, sent: SentCode, code: string): boolean =>
  call.keys.macMatches(
    'emailcode',
    codeMacInput(session, sent, code),
    Buffer.from(sent.code, 'base64url'),
  );

const maxEarlierCodes = 20;

/** Returns the codes that the next challenge replaces. */
const earlierCodes = (previous: Challenge | undefined): SentCode[] =>
  previous
    ? [
        ...(previous.replaced ?? []),
        { id: previous.id, address: previous.address, code: previous.code },
      ].slice(-maxEarlierCodes)
    : [];

/** Returns the mails of the change with one more. */
const withMail = (previous: Challenge | undefined, mail: CountedMail): CountedMail[] =>
  [...(previous?.countedMails ?? []), mail].slice(-maxCountedMails);

/**
 * Compares a code and responds only after the resulting commit: what `onVerified` does with the
 * address of a right code, or the count of a wrong one.
 */
async function verifyCode<T>(
  call: Call,
  name: string,
  session: string,
  code: string,
  onVerified: (tx: Transaction, address: string) => Promise<T>,
): Promise<T | StatusError> {
  const limit = wrongCodes(call.settings.limits);
  const { mails, outcome } = await withSpentLimit(call, limit, () =>
    call.change(async (tx) => {
      const challenge = await readChallenge(tx, session);
      if (!challenge) throw codeExpired('no code was requested', name);
      if (challenge.triesLeft <= 0) throw codeExpired('no tries are left', name);
      if (call.now > challenge.expires) throw codeExpired('it has expired', name);
      const { triesLeft: left } = challenge;
      if (!isCode(code, challenge.length)) {
        throw wrongCode(name, `must be ${challenge.length} digits; ${left} tries left`, {
          triesLeft: left,
        });
      }
      const requester = requesterOf(call, canonicalAddress(challenge.address));
      await assertCodesNotLocked(tx, canonicalAddress(challenge.address), requester, call);
      if (isCodeOf(call, session, challenge, code)) {
        await removeChallenge(tx, session);
        const { countedMails = [] } = challenge;
        return { mails: countedMails, outcome: await onVerified(tx, challenge.address) };
      }
      if (challenge.replaced?.some((earlier) => isCodeOf(call, session, earlier, code))) {
        return { mails: [], outcome: replacedCode(name, left) };
      }
      await countWrongCode(tx, canonicalAddress(challenge.address), requester, call);
      challenge.triesLeft -= 1;
      writeChallenge(tx, session, challenge);
      const { triesLeft } = challenge;
      const wrong = wrongCode(name, `wrong code, ${triesLeft} tries left`, { triesLeft });
      return { mails: undefined, outcome: wrong };
    }),
  );
  if (mails) {
    call.refund(limit);
    await giveBackMails(call, mails);
  }
  return outcome;
}

const wrongCode = (name: string, message: string, details?: { triesLeft: number }): StatusError =>
  invalid({ ...Account, kind: 'Email' }, name, [invalidValue('spec.code', message)], details);
