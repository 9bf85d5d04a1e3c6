import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { localText } from '../../i18n/local-text.js';
import type { MailOrder } from '../../mail/messages.js';
import { defineAction } from '../../registry/action.js';
import type { Call } from '../../registry/kind.js';
import type { Limits } from '../../registry/limits/limit-settings.js';
import type { Limit } from '../../registry/limits/rate-limit.js';
import { toLaterTimestamp, toTimestamp } from '../../registry/schema/timestamp.js';
import { daySeconds } from '../../registry/schema/units.js';
import { invalidValue } from '../../registry/status/field-errors.js';
import { invalid, StatusError, tooManyRequestsUntil } from '../../registry/status/status.js';
import { digest } from '../../security/keyring.js';
import { Account } from '../people/account/account.js';
import { accountPageClient } from '../signin/account-page.js';
import { newCode } from '../signin/code-format.js';
import {
  areCodesLocked,
  lockedUntil,
  type Requester,
  requesterOf,
} from '../signin/code-throttle.js';
import {
  canonicalAddress,
  emailAddress,
  isWithinLengths,
  newAddressFaults,
} from '../signin/email-address.js';
import { mailLanguage, profileOf } from '../signin/mail-language.js';
import { describeBrowser } from '../signin/user-agent.js';
import { withSpentLimit } from '../signin/with-spent-limit.js';
import { Interaction, type InteractionObject } from './interaction.js';
import { observeAttempt } from './observe-attempt.js';
import { assertPhase } from './preconditions.js';
import { type CountedMail, maxCountedMails } from './schema.js';

/**
 * Returns the limits on mails to one address, from one sign-in and from one client network. A known
 * browser has its own budget for the address, which strangers cannot use up.
 */
export function mailLimits(
  limits: Limits,
  requester: Requester,
): { address: Limit[]; interaction: Limit; network: Limit } {
  const seconds = limits.mailWindow / 1000;
  const stranger: Limit[] = [
    { name: 'mailaddress', setting: 'mailsPerAddress', max: limits.mailsPerAddress, seconds },
    {
      name: 'mailaddressday',
      setting: 'mailsPerAddressDay',
      max: limits.mailsPerAddressDay,
      seconds: daySeconds,
    },
  ];
  return {
    address:
      requester === 'known'
        ? [
            {
              name: 'mailknown',
              setting: 'mailsPerKnownAddress',
              max: limits.mailsPerKnownAddress,
              seconds,
            },
          ]
        : stranger,
    interaction: {
      name: 'mailinteraction',
      setting: 'mailsPerInteraction',
      max: limits.mailsPerInteraction,
      seconds,
    },
    network: {
      name: 'mailnetwork',
      setting: 'mailsPerNetwork',
      max: limits.mailsPerNetwork,
      seconds,
      block: 10,
      ...(requester === 'stranger' && { inAll: limits.mailsInAll, inAllSetting: 'mailsInAll' }),
    },
  };
}

/** Returns the MAC input of a code. It binds the code to one challenge of one interaction. */
export const codeMacInput = (interaction: string, challenge: string, code: string): string =>
  `${interaction}\0${challenge}\0${code}`;

/**
 * POST emailchallenge: emails a code and a link (docs/design/api.md#sign-in-actions). One commit
 * holds the challenge, the outbox row and every limit except that of the client network.
 */
export const emailChallenge = defineAction({
  of: Interaction,
  subresource: 'emailchallenge',
  verb: 'create',
  kind: 'EmailChallenge',
  description: 'Emails a code and a link to the address.',
  spec: z.object({ email: emailAddress().describe('The address to send the email to.') }),
  run: (call, interaction, { spec }) =>
    observeAttempt(
      call,
      interaction,
      { method: 'EmailChallenge', address: spec.email },
      sendChallenge(call, interaction, spec.email),
    ),
});

async function sendChallenge(
  call: Call,
  interaction: InteractionObject,
  email: string,
): Promise<InteractionObject> {
  const { name } = interaction.metadata;
  if (!isWithinLengths(email)) {
    throw invalid({ ...Interaction, kind: 'EmailChallenge' }, name, [
      invalidValue('spec.email', 'must be an email address'),
    ]);
  }
  assertPhase('LoginRequired', interaction, call);
  assertResendAllowed(interaction.internal.email, call);
  const address = canonicalAddress(email);
  const requester = requesterOf(call, address);
  const limits = mailLimits(call.settings.limits, requester);
  const isCeilingReached = await areCodesLocked(call);
  const secrets = {
    code: newCode(call.settings.limits),
    token: randomBytes(32).toString('base64url'),
    id: randomUUID(),
  };
  return withSpentLimit(call, limits.network, () =>
    call.change(async (tx) => {
      const interaction = await tx.get(Interaction, name);
      assertPhase('LoginRequired', interaction!, call);
      assertResendAllowed(interaction!.internal.email, call);
      for (const limit of limits.address) await tx.spend(limit, address);
      await tx.spend(limits.interaction, name);
      const account = await tx.byUnique(Account, 'email', address);
      const faults = account ? [] : newAddressFaults(email, 'spec.email');
      if (faults.length > 0) {
        throw invalid({ ...Interaction, kind: 'EmailChallenge' }, name, faults);
      }
      const isLinkOnly = isCeilingReached || (await lockedUntil(tx, address, requester, call)) > 0;
      const next = await tx.update(Interaction, name, (object) => {
        replaceChallenge(object, email, secrets, isLinkOnly, call);
        const mails = [...(object.internal.countedMails ?? []), countedMail(call, requester)];
        object.internal.countedMails = mails.slice(-maxCountedMails);
      });
      const language = mailLanguage(call, account && profileOf(account), next.spec.locales);
      const order: MailOrder = {
        to: account?.status.email.address ?? email,
        signIn: mailFacts(next, secrets, isLinkOnly, call, language.languages),
        interaction: name,
        ...language,
      };
      await tx.enqueue('mail', order, call.now + call.settings.limits.emailCodeLifetime, {
        id: secrets.id,
      });
      return next;
    }),
  );
}

/** The MAC of a client network, so that an Interaction does not hold the address of a person. */
const networkMac = ({ keys, request }: Call): string =>
  keys.mac('mail network', request.network).toString('base64url');

/** Returns the note that a mail counts against the client network, for `giveBackMails`. */
export const countedMail = (call: Call, requester: Requester): CountedMail => ({
  network: networkMac(call),
  at: call.now,
  known: requester === 'known',
});

/**
 * Gives back to the store what mails used of the client network's share, after the commit that used
 * the proof: so people who finish do not count. Mails of another network, and of a window that is
 * over, stay counted, as all do while the store cannot be reached.
 */
export async function giveBackMails(call: Call, mails: readonly CountedMail[] = []): Promise<void> {
  if (call.dryRun) return;
  const network = networkMac(call);
  try {
    for (const mail of mails) {
      if (mail.network === network) await call.giveBack(limitOf(call, mail), mail.at);
    }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
  }
}

const limitOf = ({ settings }: Call, { known }: CountedMail): Limit =>
  mailLimits(settings.limits, known ? 'known' : 'stranger').network;

/**
 * Throws 429 before `resendAfterTimestamp` of a mail that was sent before. There is no wait for a code
 * without tries.
 */
export function assertResendAllowed(
  mail: { readonly sent: number; readonly triesLeft?: number } | undefined,
  { now, settings }: Call,
): void {
  if (!mail || (mail.triesLeft ?? 1) <= 0) return;
  const until = mail.sent + settings.limits.emailResendWait;
  if (until > now) throw tooManyRequestsUntil(until, now, 'a mail was sent a moment ago');
}

/**
 * Replaces the challenge. Keeps the hashes of the previous one, to tell a replaced code or link
 * from a wrong one.
 */
function replaceChallenge(
  { internal, status, metadata }: InteractionObject,
  address: string,
  { code, token, id }: { code: string; token: string; id: string },
  linkOnly: boolean,
  call: Call,
): void {
  const previous = internal.email;
  if (previous) {
    internal.replaced = [
      ...internal.replaced,
      { id: previous.id, code: previous.code, link: previous.link },
    ].slice(-20);
  }
  internal.email = {
    id,
    address,
    code: call.keys.mac('emailcode', codeMacInput(metadata.name, id, code)).toString('base64url'),
    link: digest(token),
    sent: call.now,
    expires: call.now + call.settings.limits.emailCodeLifetime,
    triesLeft: call.settings.limits.emailCodeTries,
    state: 'InForce',
    linkOnly,
  };
  status.emailChallenge = {
    email: address,
    sender: call.settings.emailFrom,
    sentTimestamp: toTimestamp(call.now),
    expirationTimestamp: toTimestamp(call.now + call.settings.limits.emailCodeLifetime),
    resendAfterTimestamp: toLaterTimestamp(call.now + call.settings.limits.emailResendWait),
    triesLeft: call.settings.limits.emailCodeTries,
    codeLength: code.length,
  };
}

const mailFacts = (
  { metadata, status }: InteractionObject,
  { code, token }: { code: string; token: string },
  linkOnly: boolean,
  call: Call,
  languages: readonly string[] = [],
) => ({
  ...(status.client.name !== accountPageClient && {
    client: localText(status.client.displayName, status.client.displayNames, languages).text,
  }),
  ...(!linkOnly && { code }),
  link: `${call.settings.baseURL}/interaction/${metadata.name}#token=${token}`,
  browser: describeBrowser(call.request.userAgent),
  now: call.now,
  ends: call.now + call.settings.limits.emailCodeLifetime,
  host: new URL(call.settings.baseURL).host,
});
