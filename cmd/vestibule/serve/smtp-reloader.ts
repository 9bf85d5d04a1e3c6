import { wrongMailServer } from '../options/config-validation.js';
import { followFiles } from './watch-files.js';
import type { Transport } from '../../../mail/message.js';
import type { Log } from '../../../observability/log.js';
import { readSecretFile } from '../options/secret-file.js';

/** A way to send mail with how many it is sending; it is closed once it is left and sends none. */
interface Way {
  readonly transport: Transport;
  sending: number;
  left: boolean;
}

/**
 * Sends mail by the server that a file names now: taken over as it changes, while what is under way
 * ends by the former; where it cannot be used, the former stays
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
          log.warn({ err: error }, 'connections to the former mail server could not be closed'),
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
        log.info({ file }, 'the mail server has changed: mail goes to the one that the file names');
      } catch (error) {
        log.error(
          { err: error, file },
          'the file of the mail server has changed and cannot be used; mail goes to the former',
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
