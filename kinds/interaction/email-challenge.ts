import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { MailOrder } from '../../mail/messages.js';
import { digest } from '../../security/keyring.js';
import { defineAction } from '../../registry/action.js';
import type { Call } from '../../registry/kind.js';
import type { Limits } from '../../registry/limit-settings.js';
import type { Limit } from '../../registry/rate-limit.js';
import { invalid, tooManyRequests } from '../../registry/status.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { Account } from '../account/account.js';
import {
  canonical,
  emailAddress,
  isWithinLengths,
  newAddressFaults,
} from '../signin/email-address.js';
import { newCode } from '../signin/code-format.js';
import { spending } from '../signin/spending.js';
import { describeBrowser } from '../signin/user-agent.js';
import { Interaction, type InteractionObject } from './interaction.js';
import { observed } from './observe-attempt.js';
import { assertPhase } from './preconditions.js';
import { askerOf, lockedUntil, wrongCodes, type Asker } from '../signin/code-throttle.js';

/**
 * Mails to one address, from one sign-in, for one client network. Who proves an earlier sign-in
 * with the address has a budget that strangers cannot use up.
 */
export function mailLimits(
  limits: Limits,
  asker: Asker,
): { address: Limit[]; interaction: Limit; network: Limit } {
  const seconds = limits.mailWindow / 1000;
  const stranger = [
    { name: 'mailaddress', max: limits.mailsPerAddress, seconds },
    { name: 'mailaddressday', max: limits.mailsPerAddressDay, seconds: 86_400 },
  ];
  return {
    address:
      asker === 'known'
        ? [{ name: 'mailknown', max: limits.mailsPerKnownAddress, seconds }]
        : stranger,
    interaction: { name: 'mailinteraction', max: limits.mailsPerInteraction, seconds },
    network: {
      name: 'mailnetwork',
      max: limits.mailsPerNetwork,
      seconds,
      block: 10,
      ...(asker === 'stranger' && { inAll: limits.mailsInAll }),
    },
  };
}

/** What the MAC of a code covers: a code is good for one challenge of one interaction. */
export const codeData = (interaction: string, challenge: string, code: string): string =>
  `${interaction}\0${challenge}\0${code}`;

/**
 * POST emailchallenge: emails a code and a link (docs/design/api.md#sign-in-actions). Challenge,
 * outbox row and every limit but that of the client network are one commit.
 */
export const emailChallenge = defineAction({
  of: Interaction,
  subresource: 'emailchallenge',
  verb: 'create',
  kind: 'EmailChallenge',
  description: 'Emails a code and a link to the address.',
  spec: z.object({ email: emailAddress().describe('Where to.') }),
  run: (call, begun, { spec }) =>
    observed(
      call,
      begun,
      { method: 'EmailChallenge', address: spec.email },
      send(call, begun, spec.email),
    ),
});

async function send(
  call: Call,
  begun: InteractionObject,
  email: string,
): Promise<InteractionObject> {
  const { name } = begun.metadata;
  if (!isWithinLengths(email))
    throw invalid({ ...Interaction, kind: 'EmailChallenge' }, name, [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.email',
        message: 'Invalid value: must be an email address',
      },
    ]);
  assertPhase('LoginRequired', begun, call);
  refuseEarly(begun, call);
  const address = canonical(email);
  const asker = askerOf(call, address);
  const limits = mailLimits(call.settings.limits, asker);
  const codesRest = (await call.spentRatio(wrongCodes(call.settings.limits))) >= 1;
  const secrets = {
    code: newCode(call.settings.limits),
    token: randomBytes(32).toString('base64url'),
    id: randomUUID(),
  };
  return spending(call, limits.network, () =>
    call.change(async (tx) => {
      const interaction = await tx.get(Interaction, name);
      assertPhase('LoginRequired', interaction!, call);
      refuseEarly(interaction!, call);
      for (const limit of limits.address) await tx.spend(limit, address);
      await tx.spend(limits.interaction, name);
      const account = await tx.byUnique(Account, 'email', address);
      const faults = account ? [] : newAddressFaults(email, 'spec.email');
      if (faults.length > 0)
        throw invalid({ ...Interaction, kind: 'EmailChallenge' }, name, faults);
      const isLinkOnly = codesRest || (await lockedUntil(tx, address, asker, call)) > 0;
      const next = await tx.update(Interaction, name, (object) =>
        challenge(object, email, secrets, isLinkOnly, call),
      );
      const order: MailOrder = {
        to: account?.status.email.address ?? email,
        signIn: mailFacts(next, secrets, isLinkOnly, call),
        interaction: name,
      };
      await tx.enqueue('mail', order, call.now + call.settings.limits.emailCodeLifetime, {
        id: secrets.id,
      });
      return next;
    }),
  );
}

/** 429 with the wait that `resendAfterTimestamp` shows too. */
function refuseEarly({ internal }: InteractionObject, call: Call): void {
  const wait = internal.email
    ? internal.email.sent + call.settings.limits.emailResendWait - call.now
    : 0;
  if (wait > 0) throw tooManyRequests(Math.ceil(wait / 1000), 'a mail was sent a moment ago');
}

/**
 * A new challenge ends the one before; its hashes are kept, to tell a replaced proof from a wrong
 * one.
 */
function challenge(
  { internal, status, metadata }: InteractionObject,
  address: string,
  { code, token, id }: { code: string; token: string; id: string },
  linkOnly: boolean,
  call: Call,
): void {
  const former = internal.email;
  if (former)
    internal.replaced = [
      ...internal.replaced,
      { id: former.id, code: former.code, link: former.link },
    ].slice(-20);
  internal.email = {
    id,
    address,
    code: call.keys.mac('emailcode', codeData(metadata.name, id, code)).toString('base64url'),
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
    resendAfterTimestamp: toTimestamp(
      Math.ceil((call.now + call.settings.limits.emailResendWait) / 1000) * 1000,
    ),
    triesLeft: call.settings.limits.emailCodeTries,
    codeLength: code.length,
  };
}

const mailFacts = (
  { metadata, status }: InteractionObject,
  { code, token }: { code: string; token: string },
  linkOnly: boolean,
  call: Call,
) => ({
  client: status.client.displayName,
  ...(!linkOnly && { code }),
  link: `${call.settings.baseURL}/interaction/${metadata.name}#token=${token}`,
  browser: describeBrowser(call.request.userAgent),
  now: call.now,
  ends: call.now + call.settings.limits.emailCodeLifetime,
  host: new URL(call.settings.baseURL).host,
});
