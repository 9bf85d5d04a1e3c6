import type { Translator } from '../i18n/translator.js';
import type { Block, MailContent } from './layout.js';

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
  /** Whether a sign-in by passkey cancelled it. */
  readonly byPasskey?: boolean;
}

/** Returns the mail that announces a recovery or reports its end. */
export function recoveryMail(translator: Translator, notice: RecoveryNotice): MailContent {
  const { event, host, cancel, account } = notice;
  const blocks: Block[] = textsOf(translator, notice).map((text) => ({ text }));
  if (cancel) {
    blocks.push(
      { text: translator.text('mail.recovery.stop') },
      { link: cancel, label: translator.text('mail.recovery.keep') },
      { footer: translator.text('mail.recovery.footer', { account }) },
    );
  }
  const subject = translator.text(`mail.recovery.subject.${event}`, { host });
  return { subject, blocks };
}

function textsOf(translator: Translator, notice: RecoveryNotice): readonly string[] {
  switch (notice.event) {
    case 'Completed':
      return [
        completion(translator, notice),
        translator.text('mail.recovery.completed.notYou', { host: notice.host }),
      ];
    case 'Cancelled':
      return [cancellation(translator, notice)];
    default:
      return [announcement(translator, notice)];
  }
}

function announcement(
  translator: Translator,
  { startedBy, startedFrom = '', host, ready }: RecoveryNotice,
): string {
  const values = { host, date: translator.date(ready) };
  return startedBy === 'Operator'
    ? translator.text('mail.recovery.byOperator', values)
    : translator.text('mail.recovery.byPerson', {
        ...values,
        browser: translator.browser(startedFrom),
      });
}

const completion = (translator: Translator, { host, now, account }: RecoveryNotice): string =>
  translator.text('mail.recovery.completed', { host, date: translator.date(now), account });

function cancellation(translator: Translator, { now, by, byPasskey }: RecoveryNotice): string {
  const date = translator.date(now);
  if (by === undefined) return translator.text('mail.recovery.cancelled.byOperator', { date });
  const values = { date, browser: translator.browser(by) };
  return byPasskey
    ? translator.text('mail.recovery.cancelled.byPasskey', values)
    : translator.text('mail.recovery.cancelled.byPerson', values);
}
