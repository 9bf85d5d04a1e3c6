import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { MailOrder } from '../../mail/messages.js';
import { digest } from '../../registry/keys.js';
import { defineAction, type Call, type Transaction } from '../../registry/kind.js';
import type { Limit } from '../../registry/limits.js';
import { invalid, tooManyRequests } from '../../registry/status.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { Account } from '../account/account.js';
import { canonical, emailAddress, isWithinLengths } from '../address.js';
import { describeBrowser } from '../useragent.js';
import { Interaction, type InteractionObject } from './interaction.js';
import { refuseUnless } from './phase.js';
import { restingUntil } from './resting.js';

const quarter = 15 * 60;
/** Mails to one address, from one sign-in, for one client network (`api.md` 10). */
export const mailLimits = {
  address: { name: 'mailaddress', most: 5, seconds: quarter }, interaction: { name: 'mailinteraction', most: 5, seconds: quarter }, network: { name: 'mailnetwork', most: 20, seconds: quarter },
} satisfies Record<string, Limit>;

/** How long an emailed code or link counts, and from when another may be asked for, in milliseconds; and how many codes may be tried. */
export const challengeLife = 10 * 60_000;
export const resendAfter = 60_000;
export const tries = 5;

/** What the MAC of a code covers: a code is good for one challenge of one interaction. */
export const codeData = (interaction: string, challenge: string, code: string): string => `${interaction}\0${challenge}\0${code}`;

/** POST emailchallenge: emails a code and a link to the address (specification 4); challenge, limits and outbox row are one commit. */
export const emailChallenge = defineAction({
  of: Interaction, subresource: 'emailchallenge', verb: 'create', kind: 'EmailChallenge',
  description: 'Emails a code and a link to the address.',
  spec: z.object({ email: emailAddress().describe('Where to.') }),
  async run(call, { metadata }, { spec }) {
    const { name } = metadata;
    if (!isWithinLengths(spec.email)) throw invalid({ ...Interaction, kind: 'EmailChallenge' }, name, [{ reason: 'FieldValueInvalid', field: 'spec.email', message: 'Invalid value: must be an email address' }]);
    const secrets = { code: String(randomInt(1_000_000)).padStart(6, '0'), token: randomBytes(32).toString('base64url'), id: randomUUID() };
    return call.change(async (tx) => {
      const interaction = await tx.get(Interaction, name);
      refuseUnless('LoginRequired', interaction!, call);
      refuseEarly(interaction!, call);
      await spendMail(tx, canonical(spec.email), name, call);
      const [account, resting] = [await tx.byUnique(Account, 'email', canonical(spec.email)), await restingUntil(tx, canonical(spec.email), call)];
      const next = await tx.update(Interaction, name, (object) => challenge(object, spec.email, secrets, resting > 0, call));
      const order: MailOrder = { to: account?.status.email.address ?? spec.email, signIn: mailFacts(next, secrets, resting > 0, call) };
      await tx.later('mail', order, call.now + challengeLife, { id: secrets.id });
      return next;
    });
  },
});

/** 429 with the wait that `resendAfterTimestamp` shows too. */
function refuseEarly({ internal }: InteractionObject, call: Call): void {
  const wait = internal.email ? internal.email.sent + resendAfter - call.now : 0;
  if (wait > 0) throw tooManyRequests(Math.ceil(wait / 1000), 'a mail was sent a moment ago');
}

async function spendMail(tx: Transaction, address: string, interaction: string, call: Call): Promise<void> {
  await tx.spend(mailLimits.address, address);
  await tx.spend(mailLimits.interaction, interaction);
  await tx.spend(mailLimits.network, call.request.network);
}

/** A new challenge ends the one before; its hashes are kept, to tell a replaced proof from a wrong one. */
function challenge({ internal, status, metadata }: InteractionObject, address: string, { code, token, id }: { code: string; token: string; id: string }, linkOnly: boolean, call: Call): void {
  const former = internal.email;
  if (former) internal.replaced = [...internal.replaced, { id: former.id, code: former.code, link: former.link }].slice(-20);
  internal.email = {
    id, address, code: call.keys.mac('emailcode', codeData(metadata.name, id, code)).toString('base64url'), link: digest(token),
    sent: call.now, expires: call.now + challengeLife, triesLeft: tries, state: 'InForce', linkOnly,
  };
  status.emailChallenge = {
    email: address, sentTimestamp: toTimestamp(call.now), expirationTimestamp: toTimestamp(call.now + challengeLife),
    resendAfterTimestamp: toTimestamp(Math.ceil((call.now + resendAfter) / 1000) * 1000), triesLeft: tries,
  };
}

const mailFacts = ({ metadata, status }: InteractionObject, { code, token }: { code: string; token: string }, linkOnly: boolean, call: Call) => ({
  client: status.client.displayName, ...(!linkOnly && { code }), link: `${call.settings.baseURL}/interaction/${metadata.name}#token=${token}`,
  browser: describeBrowser(call.request.userAgent), now: call.now, ends: call.now + challengeLife, host: new URL(call.settings.baseURL).host,
});
