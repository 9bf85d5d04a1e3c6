import type { Config } from '../options/config.js';
import { mockMessage } from '../../../kinds/mail/mock-transport.js';
import type { Transport } from '../../../mail/message.js';
import type { Mailbox } from '../../../mail/worker.js';
import type { Log } from '../../../observability/log.js';
import type { Store } from '../../../registry/store.js';
import { followedTransport } from './smtp-reloader.js';

/** Returns the SMTP transport of the settings, or the mock mailbox. */
export async function openMail(
  config: Config,
  store: Store,
  log: Log,
): Promise<{ transport: Transport } | { mailbox: Mailbox }> {
  if (config.mockMail) return { mailbox: (mail, id) => mockMessage(store, mail, id) };
  const { smtpTransport } = await import('../../../mail/smtp.js');
  const to = (url: string): Transport => smtpTransport({ url });
  return {
    transport:
      config.smtpURLFile === undefined
        ? to(config.smtpURL!)
        : followedTransport(config.smtpURLFile, config.smtpURL!, to, log),
  };
}
