import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { scaled } from '../patience.js';

/**
 * A connection, by TLS to an https address, on which a test writes what no client library would.
 */
export class RawSocket {
  text = '';
  closed = false;
  readonly socket: Socket;
  #wake: (() => void)[] = [];

  constructor(base: string) {
    const { hostname, port, protocol } = new URL(base);
    const host = hostname.replace(/^\[|\]$/g, '');
    const stir = (): void => {
      for (const wake of this.#wake.splice(0)) wake();
    };
    const socket =
      protocol === 'https:'
        ? connectSecurely({ port: Number(port), host, rejectUnauthorized: false })
        : connect(Number(port), host);
    this.socket = socket.setEncoding('latin1');
    this.socket
      .on('data', (text: string) => {
        this.text += text;
        stir();
      })
      .on('close', () => {
        this.closed = true;
        stir();
      })
      .on('error', () => {});
  }

  /** Sends a head, line by line, and what follows it. */
  send(lines: readonly string[], body = ''): this {
    this.socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
    return this;
  }

  /** Resolves once `holds`, or throws with what was seen. */
  async until(holds: (raw: this) => boolean, milliseconds = 8_000): Promise<this> {
    const end = performance.now() + scaled(milliseconds);
    while (!holds(this)) {
      if (performance.now() > end) {
        throw new Error(`timed out, closed ${this.closed}: ${this.text.slice(0, 800)}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 200);
        this.#wake.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    return this;
  }

  close(): void {
    this.socket.destroy();
  }
}
