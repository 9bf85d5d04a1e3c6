import type { Transport } from '../../../mail/message.js';
import type { Log } from '../../../observability/log.js';
import { mailServerProblem } from '../options/config-validation.js';
import { readSecretFile } from '../options/secret-file.js';
import { reloadFiles } from './watch-files.js';

/**
 * A transport with the number of mails that it is sending. A replaced transport is closed when that
 * is 0.
 */
interface TransportUse {
  readonly transport: Transport;
  sendingCount: number;
  isReplaced: boolean;
}

/**
 * Returns a transport to the server whose URL a file holds. When the file changes, new mails use
 * the new server and running ones finish on the former; an invalid file changes nothing
 * (docs/design/operations.md#watched-files).
 */
export function reloadingTransport(
  file: string,
  url: string,
  createTransport: (url: string) => Transport,
  log: Log,
): Transport {
  let currentURL = url;
  let current: TransportUse = {
    transport: createTransport(url),
    sendingCount: 0,
    isReplaced: false,
  };
  const closeIdle = (use: TransportUse): void => {
    if (use.isReplaced && use.sendingCount === 0) {
      use.transport
        .close()
        .catch((error: unknown) =>
          log.warn({ err: error }, 'closing connections to the former mail server failed'),
        );
    }
  };
  const messages = {
    reloaded: 'reloaded the mail server URL',
    failed: 'could not reload the mail server URL; the former mail server stays in use',
  };
  const reload = (): boolean => {
    const next = readSecretFile(file).trim();
    if (next === currentURL) return false;
    const wrong = mailServerProblem(next);
    if (wrong !== undefined) throw new Error(wrong);
    const former = current;
    current = { transport: createTransport(next), sendingCount: 0, isReplaced: false };
    currentURL = next;
    former.isReplaced = true;
    closeIdle(former);
    return true;
  };
  const stop = reloadFiles([file], messages, reload, log);
  return {
    async send(mail, id) {
      const use = current;
      use.sendingCount += 1;
      try {
        await use.transport.send(mail, id);
      } finally {
        use.sendingCount -= 1;
        closeIdle(use);
      }
    },
    async close() {
      stop();
      await current.transport.close();
    },
  };
}
