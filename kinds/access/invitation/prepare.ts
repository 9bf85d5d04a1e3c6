import { localText } from '../../../i18n/local-text.js';
import type { MailOrder } from '../../../mail/messages.js';
import type { Call, ObjectOf, Transaction } from '../../../registry/kind.js';
import type { Limits } from '../../../registry/limits/limit-settings.js';
import type { Limit } from '../../../registry/limits/rate-limit.js';
import { fromTimestamp } from '../../../registry/schema/timestamp.js';
import { daySeconds } from '../../../registry/schema/units.js';
import { invalidValue } from '../../../registry/status/field-errors.js';
import { invalid } from '../../../registry/status/status.js';
import { Client } from '../../apps/client/client.js';
import { Account } from '../../people/account/account.js';
import { canonicalAddress } from '../../signin/email-address.js';
import { mailLanguage } from '../../signin/mail-language.js';
import { mailRetryMs } from '../../signin/mail-person.js';
import { naming } from './naming.js';
import type { InvitationObject } from './schema.js';

/** Enqueues the mail, within the limits of its address and of the account that invites. */
export async function mailInvitation(
  tx: Transaction,
  { metadata, spec }: InvitationObject,
  email: string,
  call: Call,
): Promise<void> {
  const client = spec.client === undefined ? undefined : await clientOf(tx, spec.client, metadata);
  const { caller, settings, now } = call;
  for (const { subject, ...limit } of mailLimits(settings.limits, email, caller)) {
    await tx.spend({ ...limit, seconds: daySeconds }, subject);
  }
  const inviter = caller.type === 'Account' ? await tx.get(Account, caller.account) : undefined;
  const until = fromTimestamp(spec.until!);
  const language = mailLanguage(call, { locale: spec.locale });
  const order: MailOrder = {
    to: email,
    invitation: {
      host: new URL(settings.baseURL).host,
      link: client ? linkOf(client, email, settings.baseURL) : `${settings.baseURL}/account`,
      until,
      ...(inviter && {
        inviter: { name: inviter.spec.displayName, email: inviter.status.email.address },
      }),
      ...(client && { client: nameIn(client, language.languages) }),
    },
    object: metadata.name,
    ...language,
  };
  await tx.enqueue('mail', order, Math.min(until, now + mailRetryMs));
}

const nameIn = ({ spec }: ObjectOf<typeof Client>, languages: readonly string[] = []): string =>
  localText(spec.displayName, spec.displayNames, languages).text;

function mailLimits(limits: Limits, email: string, caller: Call['caller']) {
  const address: Omit<Limit, 'seconds'> & { readonly subject: string } = {
    name: 'inviteaddress',
    setting: 'invitationsPerAddressDay',
    max: limits.invitationsPerAddressDay,
    subject: canonicalAddress(email),
  };
  if (caller.type !== 'Account') return [address];
  const inviter: typeof address = {
    name: 'inviter',
    setting: 'invitationsPerAccountDay',
    max: limits.invitationsPerAccountDay,
    subject: caller.account,
  };
  return [address, inviter];
}

type ClientObject = ObjectOf<typeof Client>;

/** Returns the Client that the mail leads to; throws 422 if a sign-in cannot start there. */
async function clientOf(
  tx: Transaction,
  name: string,
  metadata: InvitationObject['metadata'],
): Promise<ClientObject> {
  const client = await tx.get(Client, name);
  if (client?.spec.initiateLoginURI !== undefined) return client;
  throw invalid(naming, metadata.name, [
    invalidValue('spec.client', 'must be a Client with an initiateLoginURI'),
  ]);
}

/** Returns the link that starts a sign-in at the Client (OpenID Connect Core 1.0 §4). */
function linkOf({ spec }: ClientObject, email: string, baseURL: string): string {
  const link = new URL(spec.initiateLoginURI!);
  link.searchParams.set('iss', baseURL);
  link.searchParams.set('login_hint', email);
  return link.href;
}
