import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { MailOrder } from '../../mail/messages.js';
import { defineAction } from '../../registry/action.js';
import { apiVersion, type Call, type ObjectOf, type Transaction } from '../../registry/kind.js';
import type { Limits } from '../../registry/limit-settings.js';
import { perMinute } from '../../registry/rate-limit.js';
import {
  badRequest,
  expired,
  invalid,
  StatusError,
  tooManyRequests,
} from '../../registry/status.js';
import { toTimestamp } from '../../registry/timestamp.js';
import {
  canonicalAddress,
  emailAddress,
  isWithinLengths,
  newAddressFaults,
} from '../signin/email-address.js';
import { mailLimits } from '../interaction/email-challenge.js';
import { requesterOf, countWrongCode, lockedUntil, wrongCodes } from '../signin/code-throttle.js';
import { codeLength, emailedCodeSchema, newCode } from '../signin/code-format.js';
import { requireRecentAuthentication } from '../signin/recent-sign-in.js';
import { revokeOtherSessions } from '../account/end-sessions.js';
import { withSpentLimit } from '../signin/with-spent-limit.js';
import { timestamp } from '../signin/schema-types.js';
import { describeBrowser } from '../signin/user-agent.js';
import { Account } from '../account/account.js';

type AccountObject = ObjectOf<typeof Account>;

/**
 * A code on its way to a new address, kept with the session that asked
 * (docs/design/security.md#emailed-codes-and-links). Times in milliseconds since the epoch.
 */
interface Challenge {
  readonly id: string;
  readonly address: string;
  readonly code: string;
  readonly sent: number;
  readonly expires: number;
  readonly length: number;
  triesLeft: number;
}

const EmailChallenge = z.object({
  apiVersion: z.string().describe('Group and version.'),
  kind: z.literal('EmailChallenge').describe('The kind.'),
  spec: z.object({ email: z.string().describe('Where to.') }).describe('What was asked for.'),
  status: z
    .object({
      sentTimestamp: timestamp().describe('When it was sent.'),
      expirationTimestamp: timestamp().describe('Until when the code counts.'),
      resendAfterTimestamp: timestamp().describe('From when a new one may be asked for.'),
      triesLeft: z.number().int().describe('Wrong codes that may still follow.'),
      codeLength: codeLength(),
    })
    .describe('The code sent.'),
});

const codeLimit = perMinute('newaddress', 'proofsPerNetwork');

const keyOf = (session: string): string => `proofs/email/${session}`;
const macData = (
  session: string,
  { id, address }: { id: string; address: string },
  code: string,
): string => `${session}\0${id}\0${canonicalAddress(address)}\0${code}`;
const write = (tx: Transaction, session: string, challenge: Challenge): void =>
  tx.write(
    keyOf(session),
    Buffer.from(JSON.stringify(challenge)),
    2 * challenge.expires - challenge.sent,
  );
async function read(tx: Transaction, session: string): Promise<Challenge | undefined> {
  const held = await tx.read(keyOf(session));
  return held && (JSON.parse(held.value.toString()) as Challenge);
}

/**
 * The session that takes the place of an interaction; a caller without one has no browser to type a
 * code into.
 */
function sessionOf({ caller }: Call, name: string): string {
  if (caller.type !== 'Account' || caller.account !== name || caller.session === undefined)
    throw badRequest('an address is changed by its owner, in a browser that is signed in');
  return caller.session;
}

/**
 * POST accounts/~/emailchallenge: sends a code to an address that is to become the account's, and
 * answers alike whether or not the address is someone's (docs/design/api.md#change-of-address).
 * The challenge, the mail and every limit but that of the client network are one commit.
 */
export const newAddressChallenge = defineAction({
  of: Account,
  subresource: 'emailchallenge',
  verb: 'create',
  kind: 'EmailChallenge',
  answers: { kind: 'EmailChallenge', schema: EmailChallenge },
  description: 'Emails a code to the address the account is to change to.',
  spec: z.object({ email: emailAddress().describe('Where to.') }),
  async run(call, { metadata: { name }, status: { passkeys } }, { spec: { email } }) {
    const session = sessionOf(call, name);
    const { limits } = call.settings;
    const asker = requesterOf(call, canonicalAddress(email));
    const mails = mailLimits(limits, asker);
    if (!isWithinLengths(email))
      throw invalid({ ...Account, kind: 'EmailChallenge' }, name, [
        {
          reason: 'FieldValueInvalid',
          field: 'spec.email',
          message: 'Invalid value: must be an email address',
        },
      ]);
    const faults = newAddressFaults(email, 'spec.email');
    if (faults.length > 0) throw invalid({ ...Account, kind: 'EmailChallenge' }, name, faults);
    requireRecentAuthentication(call, Account, name, passkeys);
    const [code, id] = [newCode(limits), randomUUID()];
    const challenge: Challenge = {
      id,
      address: email,
      code: call.keys
        .mac('emailcode', macData(session, { id, address: email }, code))
        .toString('base64url'),
      sent: call.now,
      length: code.length,
      expires: call.now + limits.emailCodeLifetime,
      triesLeft: limits.emailCodeTries,
    };
    await withSpentLimit(call, mails.network, () =>
      call.change(async (tx) => {
        const former = await read(tx, session);
        const wait = former ? former.sent + limits.emailResendWait - call.now : 0;
        if (wait > 0) throw tooManyRequests(Math.ceil(wait / 1000), 'a mail was sent a moment ago');
        for (const limit of mails.address) await tx.spend(limit, canonicalAddress(email));
        await tx.spend(mails.interaction, session);
        write(tx, session, challenge);
        const order: MailOrder = {
          to: email,
          newAddress: {
            code,
            host: new URL(call.settings.baseURL).host,
            browser: describeBrowser(call.request.userAgent),
            now: call.now,
            ends: challenge.expires,
          },
        };
        await tx.enqueue('mail', order, challenge.expires, { id });
      }),
    );
    return {
      apiVersion,
      kind: 'EmailChallenge',
      spec: { email },
      status: statusOf(challenge, limits),
    };
  },
});

const statusOf = (
  { sent, expires, triesLeft, length }: Challenge,
  { emailResendWait }: Limits,
): z.infer<typeof EmailChallenge>['status'] => ({
  sentTimestamp: toTimestamp(sent),
  expirationTimestamp: toTimestamp(expires),
  resendAfterTimestamp: toTimestamp(Math.ceil((sent + emailResendWait) / 1000) * 1000),
  triesLeft,
  codeLength: length,
});

/**
 * POST accounts/~/email: the address becomes the account's, once the code proves that it is the
 * person's; the old one is told, and other sessions end.
 */
export const newAddress = defineAction({
  of: Account,
  subresource: 'email',
  verb: 'create',
  kind: 'Email',
  limit: codeLimit,
  description: 'Changes the address of the account to the one the code was sent to.',
  spec: z.object({ code: emailedCodeSchema() }),
  async run(call, { metadata: { name }, status: { passkeys } }, { spec: { code } }) {
    const session = sessionOf(call, name);
    requireRecentAuthentication(call, Account, name, passkeys);
    const outcome = await judge(call, name, session, code, (tx, address) =>
      changeAddress(tx, call, name, address),
    );
    if (outcome instanceof StatusError) throw outcome;
    return outcome;
  },
});

/** Makes a proven address the account's; where it is another one, other sessions end. */
async function changeAddress(
  tx: Transaction,
  call: Call,
  name: string,
  address: string,
): Promise<AccountObject> {
  const account = (await tx.get(Account, name))!;
  requireRecentAuthentication(call, Account, name, account.status.passkeys);
  const former = account.status.email.address;
  if (canonicalAddress(former) !== canonicalAddress(address)) {
    await revokeOtherSessions(tx, call, name);
    const order: MailOrder = {
      to: former,
      addressChanged: {
        host: new URL(call.settings.baseURL).host,
        browser: describeBrowser(call.request.userAgent),
        now: call.now,
      },
    };
    await tx.enqueue('mail', order, call.now + 86_400_000);
  }
  return tx.update(Account, name, ({ status }) => {
    status.email = { address, verifiedTimestamp: toTimestamp(call.now) };
  });
}

const over = (why: string, name: string): Error =>
  expired(`The emailed code is over: ${why}.`, Account, name);

/**
 * Compares a code and answers only after the commit that follows from it: what `proven` does with
 * the address of a right code, the count of a wrong one.
 */
async function judge<T>(
  call: Call,
  name: string,
  session: string,
  code: string,
  proven: (tx: Transaction, address: string) => Promise<T>,
): Promise<T | StatusError> {
  const limit = wrongCodes(call.settings.limits);
  const { isRight, outcome } = await withSpentLimit(call, limit, () =>
    call.change(async (tx) => {
      const held = await read(tx, session);
      if (!held) throw over('no code was asked for', name);
      if (held.triesLeft <= 0) throw over('there are no tries left', name);
      if (call.now > held.expires) throw over('it has expired', name);
      if (code.length !== held.length) throw wrongCode(name, `must be ${held.length} digits`);
      const asker = requesterOf(call, canonicalAddress(held.address));
      const rests = await lockedUntil(tx, canonicalAddress(held.address), asker, call);
      if (rests > 0)
        throw tooManyRequests(
          Math.ceil((rests - call.now) / 1000),
          'too many wrong codes for this address',
        );
      const mac = Buffer.from(held.code, 'base64url');
      if (call.keys.macMatches('emailcode', macData(session, held, code), mac)) {
        tx.remove(keyOf(session));
        return { isRight: true, outcome: await proven(tx, held.address) };
      }
      await countWrongCode(tx, canonicalAddress(held.address), asker, call);
      held.triesLeft -= 1;
      write(tx, session, held);
      const { triesLeft } = held;
      const wrong = wrongCode(name, `wrong code, ${triesLeft} tries left`, { triesLeft });
      return { isRight: false, outcome: wrong };
    }),
  );
  if (isRight) call.giveBack(limit);
  return outcome;
}

const wrongCode = (name: string, message: string, details?: { triesLeft: number }): StatusError =>
  invalid(
    { ...Account, kind: 'Email' },
    name,
    [{ reason: 'FieldValueInvalid', field: 'spec.code', message: `Invalid value: ${message}` }],
    details,
  );
