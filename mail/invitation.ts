import type { Translator } from '../i18n/translator.js';
import type { MailContent } from './layout.js';
import { plainName } from './message.js';

/** Data of the mail of an Invitation; `until` in milliseconds since the epoch. */
export interface InvitationNotice {
  readonly host: string;
  /** The URL that begins an ordinary sign-in. It proves nothing. */
  readonly link: string;
  readonly until: number;
  /** The display name of the app that the link leads to, if it is one. */
  readonly client?: string;
  /** Who invites: a name and the verified address. */
  readonly inviter?: { readonly name?: string | undefined; readonly email: string };
}

const nameOf = ({ name, email }: NonNullable<InvitationNotice['inviter']>): string =>
  name === undefined ? email : `${plainName(name)} (${email})`;

/** Returns the mail of an Invitation. It contains no secret: a sign-in with the address accepts it. */
export function invitationMail(
  translator: Translator,
  { host, link, until, client, inviter }: InvitationNotice,
): MailContent {
  const app = client === undefined ? host : plainName(client);
  return {
    subject: translator.text('mail.invitation.subject', { app }),
    blocks: [
      {
        text: inviter
          ? translator.text('mail.invitation.by', { app, inviter: nameOf(inviter) })
          : translator.text('mail.invitation.about', { app }),
      },
      { link, label: translator.text('mail.invitation.signIn', { app }) },
      { text: translator.text('mail.invitation.until', { date: translator.date(until) }) },
      { footer: translator.text('mail.invitation.footer') },
    ],
  };
}
