import { layout, type Block } from './layout.js';
import { plainName, type Message } from './message.js';

/** Data of the sign-in mail. Times in milliseconds since the epoch. */
export interface SignIn {
  readonly client: string;
  /** Absent while codes are locked for the address; the mail then has only the link. */
  readonly code?: string;
  readonly link: string;
  readonly browser: string;
  readonly host: string;
  readonly now: number;
  readonly ends: number;
}

const formatTime = (time: number): string => `${new Date(time).toISOString().slice(11, 16)} UTC`;

/**
 * Returns the mail with code and link. Its subject has no code, since lock screens show subjects.
 */
export function signInMail({ client, code, link, browser, host, now, ends }: SignIn): Message {
  const name = plainName(client);
  const subject = `Your sign-in to ${name}`;
  const minutes = Math.round((ends - now) / 60_000);
  const blocks: Block[] = [
    ...(code
      ? [
          { text: 'Type this code where you started to sign in:' },
          { code },
          { text: 'Or open this link on the same device, in the same browser:' },
        ]
      : [{ text: 'Open this link on the device where you started, in the same browser:' }]),
    { link, label: `Continue to ${name}` },
    {
      text:
        `Requested at ${formatTime(now)} from ${browser} to sign in to ${name} with ${host}. It works ` +
        `once, until ${formatTime(ends)} (${minutes} minutes), in the same browser only.`,
    },
    {
      footer: 'If this was not you, ignore this email. Do not share the code with anyone.',
    },
  ];
  return { subject, ...layout(subject, blocks) };
}
