import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; " +
  "base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const types: Readonly<Record<string, string>> = {
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
  html: 'text/html; charset=utf-8',
};

/**
 * Serves the built gallery under the policy of the real pages and keeps what browsers report
 * against it.
 */
export class GalleryServer {
  readonly reports: string[] = [];
  readonly #folder: string;
  readonly #server: Server;

  /** Serves what was built into this folder. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#server = createServer(
      (request, response) =>
        void this.#answer(request.url ?? '/').then(({ body, type }) => {
          request.on('data', (piece: Buffer) => {
            if (request.url === '/reports') this.reports.push(piece.toString());
          });
          response
            .writeHead(body ? 200 : 404, {
              'Content-Type': types[type] ?? 'text/plain',
              'Content-Security-Policy': `${policy}; report-uri /reports`,
              'X-Content-Type-Options': 'nosniff',
              'Cross-Origin-Opener-Policy': 'same-origin',
              'Cross-Origin-Resource-Policy': 'same-origin',
              'Referrer-Policy': 'same-origin',
              'Cache-Control': 'no-store',
            })
            .end(body ?? '');
        }),
    );
  }

  /** Starts on a free port; the address has no slash at its end. */
  async listen(): Promise<string> {
    await new Promise<void>((done) => {
      this.#server.listen(0, '127.0.0.1', done);
    });
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => {
      this.#server.close(done);
    });
  }

  async #answer(url: string): Promise<{ body: Buffer | undefined; type: string }> {
    const asset = /^\/assets\/([\w-]+\.(js|css|svg))$/.exec(url);
    if (asset) {
      return { body: await readFile(join(this.#folder, 'assets', asset[1]!)), type: asset[2]! };
    }
    return url.startsWith('/gallery')
      ? { body: await readFile(join(this.#folder, 'gallery.html')), type: 'html' }
      : { body: undefined, type: '' };
  }
}
