import { layout, type Block } from './layout.js';
import { plainName, type Message } from './message.js';

/** Data of the notice of an added or removed passkey. Times in milliseconds since the epoch. */
export interface PasskeyChange {
  readonly change: 'Added' | 'Removed';
  /** The passkey's name. */
  readonly name: string;
  /** The browser that made the change; absent if someone other than the owner did. */
  readonly browser?: string;
  readonly host: string;
  /** The URL of the page to undo it. */
  readonly account: string;
  readonly now: number;
}

/** Returns the notice that a passkey was added or removed (docs/design/ui.md#mails). */
export function passkeyMail({ change, name, browser, host, account, now }: PasskeyChange): Message {
  const subject =
    change === 'Added'
      ? `A passkey was added to your account at ${host}`
      : `A passkey was removed from your account at ${host}`;
  const time = `${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const by = browser === undefined ? 'by someone who runs this service' : `from ${browser}`;
  const blocks: Block[] = [
    {
      text:
        change === 'Added'
          ? `The passkey "${plainName(name)}" was added at ${time} ${by}. You can sign in with it.`
          : `The passkey "${plainName(name)}" was removed at ${time} ${by}. You can no longer ` +
            'sign in with it. All other browsers were signed out.',
    },
    {
      text:
        change === 'Added'
          ? 'If this was not you, remove it and sign out all other devices:'
          : 'If this was not you, check your account:',
    },
    { link: account, label: 'Open your account' },
  ];
  return { subject, ...layout(subject, blocks) };
}
