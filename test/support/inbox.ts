import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail as it came in. */
export interface Received {
  from: string;
  to: string[];
  raw: string;
}

/** A real SMTP server in the test, with scripted answers. */
export class Inbox {
  readonly received: Received[] = [];
  attempts = 0;
  readonly #server: SMTPServer;

  constructor(
    options: SMTPServerOptions = {},
    onData?: (inbox: Inbox) => Error | undefined | Promise<void>,
  ) {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      ...options,
      onData: (stream, session, callback) => {
        let raw = '';
        stream
          .setEncoding('utf8')
          .on('data', (chunk: string) => {
            raw += chunk;
          })
          .on('end', () => {
            this.attempts += 1;
            const { mailFrom, rcptTo } = session.envelope;
            const said = onData?.(this);
            if (said instanceof Error) return callback(said);
            Promise.resolve(said).then(() => {
              this.received.push({
                from: mailFrom ? mailFrom.address : '',
                to: rcptTo.map(({ address }) => address),
                raw,
              });
              callback();
            }, callback);
          });
      },
    });
    this.#server.on('error', () => {});
  }

  async listen(port = 0): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(port, '127.0.0.1', resolve);
    });
    return `smtp://127.0.0.1:${(this.#server.server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}
