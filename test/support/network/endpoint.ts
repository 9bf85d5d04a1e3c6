import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A Client's endpoint for sign-outs; it is up, down, or takes the call and does not answer. */
export class Endpoint {
  readonly tokens: string[] = [];
  state: 'Up' | 'Down' | 'Silent' = 'Up';
  readonly #held: ServerResponse[] = [];
  readonly #server: Server = createServer((request, response) => {
    let body = '';
    request
      .on('data', (chunk) => {
        body += String(chunk);
      })
      .on('end', () => {
        this.tokens.push(new URLSearchParams(body).get('logout_token')!);
        if (this.state === 'Silent') {
          this.#held.push(response);
        } else {
          response.writeHead(this.state === 'Up' ? 200 : 500).end();
        }
      });
  });
  uri = '';
  async open(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    this.uri = `http://localhost:${(this.#server.address() as AddressInfo).port}/logout`;
    return this;
  }
  /** Calls that wait for an answer still. */
  get waiting(): number {
    return this.#held.filter(({ destroyed }) => !destroyed).length;
  }
  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
