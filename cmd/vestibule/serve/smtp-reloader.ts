import { wrongMailServer } from '../options/config-validation.js';
import { followFiles } from './watch-files.js';
import type { Transport } from '../../../mail/message.js';
import type { Log } from '../../../observability/log.js';
import { readSecretFile } from '../options/secret-file.js';

/**
 * A transport with the number of mails that it is sending. A replaced transport is closed when that
 * is 0.
 */
interface Way {
  readonly transport: Transport;
  sending: number;
  left: boolean;
}

/**
 * Returns a transport to the server whose URL a file holds. When the file changes, new mails use
 * the new server and running ones finish on the former; an invalid file changes nothing
 * (docs/design/operations.md#watched-files).
 */
export function followedTransport(
  file: string,
  url: string,
  make: (url: string) => Transport,
  log: Log,
): Transport {
  let now = url;
  let way: Way = { transport: make(url), sending: 0, left: false };
  const closeIdle = (one: Way): void => {
    if (one.left && one.sending === 0)
      one.transport
        .close()
        .catch((error: unknown) =>
          log.warn({ err: error }, 'closing connections to the former mail server failed'),
        );
  };
  const stop = followFiles(
    [file],
    () => {
      try {
        const next = readSecretFile(file).trim();
        if (next === now) return;
        const wrong = wrongMailServer(next);
        if (wrong !== undefined) throw new Error(wrong);
        const former = way;
        way = { transport: make(next), sending: 0, left: false };
        now = next;
        former.left = true;
        closeIdle(former);
        log.info({ file }, 'reloaded the mail server URL');
      } catch (error) {
        log.error(
          { err: error, file },
          'could not reload the mail server URL; the former mail server stays in use',
        );
      }
    },
    log,
  );
  return {
    async send(mail, id) {
      const by = way;
      by.sending += 1;
      try {
        await by.transport.send(mail, id);
      } finally {
        by.sending -= 1;
        closeIdle(by);
      }
    },
    async close() {
      stop();
      await way.transport.close();
    },
  };
}
