import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The redirect URI of a Client: keeps what browsers bring, and says that it received it. */
export class Callback {
  /** Parameters of the requests, by GET in the query and by POST in the body. */
  readonly received: { method: string; parameters: Record<string, string> }[] = [];
  readonly #server: Server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      if (pathname !== '/callback') return response.writeHead(404).end();
      const method = request.method!;
      const sent = method === 'POST' ? new URLSearchParams(body) : searchParams;
      this.received.push({ method, parameters: Object.fromEntries(sent) });
      return response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Received</h1>');
    });
  });

  /** Starts on a free port and returns the redirect URI. */
  async open(): Promise<string> {
    await new Promise<void>((done) => {
      this.#server.listen(0, '127.0.0.1', done);
    });
    return `http://localhost:${(this.#server.address() as AddressInfo).port}/callback`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
