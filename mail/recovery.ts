import { layout, type Block } from './layout.js';
import type { Message } from './message.js';

/** Data of a mail about a recovery. Times in milliseconds since the epoch. */
export interface RecoveryNotice {
  readonly event: 'Started' | 'Halfway' | 'Ending' | 'Completed' | 'Cancelled';
  readonly host: string;
  /** When the passkeys are removed. */
  readonly ready: number;
  readonly now: number;
  /** The URL of the person's own page. */
  readonly account: string;
  /** The URL that cancels it with one press; absent once it has ended. */
  readonly cancel?: string;
  readonly startedBy: 'Person' | 'Operator';
  readonly startedFrom?: string;
  /** The browser it was cancelled from; absent if an operator cancelled it. */
  readonly by?: string;
}

const formatTime = (time: number): string =>
  `${new Date(time).toISOString().slice(0, 10)} at ${new Date(time).toISOString().slice(11, 16)} UTC`;

/** Returns the mail that announces a recovery or reports its end. */
export function recoveryMail(notice: RecoveryNotice): Message {
  const { host, cancel, account } = notice;
  const subject = subjects[notice.event](host);
  const blocks: Block[] = [
    ...texts[notice.event](notice).map((text) => ({ text })),
    ...(cancel
      ? [
          { text: 'If this was not you, or you found a passkey, stop it:' },
          { link: cancel, label: 'Keep my passkeys' },
        ]
      : []),
    ...(cancel
      ? [
          {
            footer:
              `You can also stop it on your account page: ${account}. If this was not you, make ` +
              'sure that no one else can read your email.',
          },
        ]
      : []),
  ];
  return { subject, ...layout(subject, blocks) };
}

const subjects: Record<RecoveryNotice['event'], (host: string) => string> = {
  Started: (host) => `All passkeys of your account with ${host} will be removed`,
  Halfway: (host) => `Reminder: the passkeys of your account with ${host} will be removed`,
  Ending: (host) => `Last notice: the passkeys of your account with ${host} will be removed soon`,
  Completed: (host) => `The passkeys of your account with ${host} were removed`,
  Cancelled: (host) => `Your account with ${host} keeps its passkeys`,
};

const startedByText = ({ startedBy, startedFrom }: RecoveryNotice): string =>
  startedBy === 'Operator'
    ? 'An operator of the service'
    : `Someone who signed in by email in ${startedFrom ?? 'an unknown browser'}`;

const announcement = (notice: RecoveryNotice): readonly string[] => [
  `${startedByText(notice)} reported all passkeys of your account with ${notice.host} lost. They ` +
    `will be removed on ${formatTime(notice.ready)}, and you will be signed out everywhere. After ` +
    'that, an emailed code is enough to sign in.',
];

const texts: Record<RecoveryNotice['event'], (notice: RecoveryNotice) => readonly string[]> = {
  Started: announcement,
  Halfway: announcement,
  Ending: announcement,
  Completed: ({ now, account, host }) => [
    `All passkeys of your account with ${host} were removed on ${formatTime(now)}, and you were ` +
      `signed out everywhere. Sign in with an emailed code and add a new passkey: ${account}`,
    `If this was not you, contact the people who run ${host} now.`,
  ],
  Cancelled: ({ now, by }) => [
    `The removal of your passkeys was stopped ${by === undefined ? 'by an operator of the service' : `from ${by}`} on ${formatTime(now)}. You keep your passkeys.`,
  ],
};
