import { expect, test } from '@jest/globals';
import type { MailAppearance } from '../../mail/layout.js';
import type { Mail } from '../../mail/message.js';
import { type MailOrder, writeMessage } from '../../mail/messages.js';
import { messageOf } from '../../mail/smtp.js';
import { mailWorker } from '../../mail/worker.js';
import { createLog } from '../../observability/log.js';

const invitation: MailOrder = {
  to: 'grace@example.test',
  object: 'invitation',
  invitation: {
    host: 'id.example.test',
    link: 'https://id.example.test/account',
    until: Date.UTC(2030, 0, 1),
    inviter: { name: 'Ada https://evil.test', email: 'ada@example.test' },
  },
};

/** Returns the mail of an order as it is handed to the transport. */
async function mailOf(order: MailOrder, appearance: MailAppearance): Promise<Mail> {
  let mail: Mail | undefined;
  const mailbox = async (sent: Mail) => {
    mail = sent;
    return { checks: [], writes: [] };
  };
  const sender = { from: () => 'sign-in@example.test', appearance: () => appearance };
  const worker = mailWorker(sender, { mailbox }, createLog('error'));
  await worker.run(order as never, { id: 'one', attempt: 1, until: Date.now() } as never);
  return mail!;
}

test('a mail is from the service by its name, has its help, and says who invites', async () => {
  const mail = await mailOf(invitation, {
    displayName: 'Example\r\nBcc: x@evil.test ID',
    supportURI: 'https://help.example.test/',
  });
  const { from } = messageOf(mail, 'one');
  expect(from).toEqual({ name: 'Example Bcc: x@evil.test ID', address: 'sign-in@example.test' });
  expect(mail.text).toContain('Ada (ada@example.test) invites you to');
  expect(mail.text).toContain('Help: https://help.example.test/');
  expect(mail.html).toContain('Help: https://help.example.test/');
});

test.each([
  ['no logo', undefined, false],
  ['a logo', 64 << 10, true],
  ['a logo that is too large for each mail', (64 << 10) + 1, false],
])('a mail with %s', (_, bytes, isCarried) => {
  const logoFile = bytes === undefined ? undefined : Buffer.alloc(bytes);
  const { html, logo } = writeMessage(invitation, { logoFile });
  expect([html.includes('<img'), logo !== undefined]).toEqual([isCarried, isCarried]);
});

test('a mail that a mailbox shows has no logo', async () => {
  const { html, logo } = await mailOf(invitation, { logoFile: Buffer.alloc(8) });
  expect([html.includes('<img'), logo]).toEqual([false, undefined]);
});

test('a mail of a service without a name or help has neither', async () => {
  const mail = await mailOf(invitation, {});
  expect(messageOf(mail, 'one').from).toEqual({ name: '', address: 'sign-in@example.test' });
  expect(mail.text).not.toContain('Help:');
});
