import { mockMessage } from '../../../kinds/mail/mock-transport.js';
import type { Transport } from '../../../mail/message.js';
import type { Mailbox } from '../../../mail/worker.js';
import type { Log } from '../../../observability/log.js';
import type { Store } from '../../../registry/store/store.js';
import type { Config } from '../options/config.js';
import { reloadingTransport } from './smtp-reloader.js';

/** Returns the SMTP transport of the settings, or the mock mailbox. */
export async function openMailTransport(
  config: Config,
  store: Store,
  log: Log,
): Promise<{ transport: Transport } | { mailbox: Mailbox }> {
  if (config.mockMail) return { mailbox: (mail, id) => mockMessage(store, mail, id) };
  const { smtpTransport } = await import('../../../mail/smtp.js');
  const createTransport = (url: string): Transport => smtpTransport({ url });
  return {
    transport:
      config.smtpURLFile === undefined
        ? createTransport(config.smtpURL!)
        : reloadingTransport(config.smtpURLFile, config.smtpURL!, createTransport, log),
  };
}
