import { randomUUID } from 'node:crypto';
import { emailAddress } from '../../../kinds/signin/email-address.js';
import { loadConfig } from '../options/config.js';
import { CommandError } from '../terminal/errors.js';
import { printHelp, usageError } from '../terminal/help.js';

/** Runs `vestibule mail test ADDRESS`: sends one mail and prints the reply of the mail server. */
export async function mail(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const [step, to, ...settings] = args;
  if (args.some((arg) => arg === '--help' || arg === '-h')) return printHelp('mail');
  if (step !== 'test' || to === undefined) throw usageError('mail');
  if (!emailAddress().safeParse(to).success) {
    throw new CommandError(`${JSON.stringify(to)} is not an email address`, 2);
  }
  const { smtpURL, emailFrom } = await loadConfig(settings, environment);
  if (smtpURL === undefined) {
    throw new CommandError('there is no mail server: set --smtp-url instead of --mock-mail', 2);
  }
  const { sendTestMail } = await import('../../../mail/test-mail.js');
  const { accepted, reply } = await sendTestMail(smtpURL, { from: emailFrom, to }, randomUUID());
  const { host } = new URL(smtpURL);
  if (!accepted) throw new CommandError(`${host} did not accept the mail to ${to}: ${reply}`);
  process.stdout.write(`${host} accepted the mail from ${emailFrom} to ${to}: ${reply}\n`);
}
