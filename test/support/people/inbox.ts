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

/** The code in a mail, which shows it in two groups. */
export const codeIn = (text: string): string =>
  /^\d{4} \d{4}(?=\r?$)/m.exec(text)![0].replace(' ', '');

/** The text part of a mail, decoded. */
export function textOf(raw: string): string {
  const part = raw.split(/\r\n--/).find((one) => /content-type: text\/plain/i.test(one))!;
  const body = part.slice(part.indexOf('\r\n\r\n') + 4);
  if (/quoted-printable/i.test(part)) {
    return body
      .replace(/=\r\n/g, '')
      .replace(/=([0-9A-F]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
  }
  const isBase64 = /base64/i.test(part.split('\r\n\r\n')[0]!);
  return isBase64 ? Buffer.from(body, 'base64').toString() : body;
}
