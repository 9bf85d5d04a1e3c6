import { Translator } from '../i18n/translator.js';
import { layout } from './layout.js';
import { createMailer, messageOf } from './smtp.js';

/**
 * Sends one mail and returns whether the server accepted it, with its own words. They may contain
 * the address, so they are for the person who runs the test and for no log.
 */
export async function sendTestMail(
  url: string,
  { from, to }: { from: string; to: string },
  id: string,
): Promise<{ accepted: boolean; reply: string }> {
  const text =
    'This is the mail that "vestibule mail test" sent. Sign-in codes arrive the same way.';
  const content = { subject: 'Vestibule can send mail', blocks: [{ text }] };
  const message = layout(new Translator(['en']), content, {});
  const mailer = createMailer({ url });
  try {
    const { response } = await mailer.sendMail(messageOf({ ...message, from, to }, id));
    return { accepted: true, reply: response };
  } catch (error) {
    const { response, message: reason } = error as Error & { response?: string };
    return { accepted: false, reply: response ?? reason };
  } finally {
    mailer.close();
  }
}
