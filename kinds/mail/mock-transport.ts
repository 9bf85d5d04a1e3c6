import type { StagedWrites } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import type { Store } from '../../registry/store/store.js';
import { MockMessage } from './mock-message.js';

interface RenderedMail {
  to: string;
  from: string;
  subject: string;
  text: string;
  html: string;
}

/** Returns the writes that store a mail in the mock mailbox, with its code and link extracted. */
export function mockMessage(store: Store, mail: RenderedMail, id: string): Promise<StagedWrites> {
  const code = /^\d{3,4} \d{3,4}$/m.exec(mail.text)?.[0].replace(' ', '');
  const link = mail.text
    .split(/\s/)
    .find(
      (word) => /^https?:/.test(word) && word.includes('/interaction/') && word.includes('#token='),
    );
  const { to, from, subject, text, html } = mail;
  return store.stage(MockMessage, id, () => ({
    metadata: { name: id },
    spec: {},
    internal: undefined,
    status: {
      to,
      from,
      subject,
      text,
      html,
      sentTimestamp: toTimestamp(Date.now()),
      ...(code && { code }),
      ...(link && { link }),
    },
  }));
}
