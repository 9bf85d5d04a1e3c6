import type { StagedWrites } from '../../registry/kind.js';
import type { Store } from '../../registry/store.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { MockMessage } from './mock-message.js';

interface Kept {
  to: string;
  from: string;
  subject: string;
  text: string;
  html: string;
}

/** The Part that keeps a mail in the mock mailbox, its code and link parsed for convenience. */
export function mockMessage(store: Store, mail: Kept, id: string): Promise<StagedWrites> {
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
    internal: undefined as never,
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
