import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '../log.js';
import type { Metrics } from './metrics.js';

const headers = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/**
 * `/metrics` and `/configz` on a port of their own, for the monitoring network alone: no credential
 * is asked for.
 */
export class MetricsPort {
  readonly #pages: ReadonlyMap<string, { readonly type: string; text(): Promise<string> }>;
  readonly #log: Log;
  readonly #http: Server;

  /** `settings` as anyone who reaches the port may see them. */
  constructor(metrics: Metrics, settings: Readonly<Record<string, unknown>>, log: Log) {
    const shown = `${JSON.stringify({ vestibule: settings }, null, 2)}\n`;
    this.#pages = new Map([
      ['/metrics', { type: metrics.contentType, text: () => metrics.text() }],
      ['/configz', { type: 'application/json', text: async () => shown }],
    ]);
    this.#log = log;
    this.#http = createServer(
      {
        maxHeaderSize: 16 << 10,
        headersTimeout: 10_000,
        requestTimeout: 10_000,
        connectionsCheckingInterval: 5_000,
      },
      (req, res) => void this.#serve(req, res),
    );
    this.#http.maxConnections = 100;
    this.#http.setTimeout(30_000);
  }

  async listen(port: number, address: string): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => {
      this.#http.once('error', reject).listen(port, address, () => resolve());
    });
    return this.#http.address() as AddressInfo;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#http.close(() => resolve());
    });
    this.#http.closeAllConnections();
    await closed;
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      const page = this.#pages.get(req.url!.split('?', 1)[0]!);
      if (!page) return answer(req, res, 404, plain, '404 page not found\n');
      if (req.method === 'GET' || req.method === 'HEAD')
        return answer(req, res, 200, page.type, await page.text());
      res.setHeader('Allow', 'GET, HEAD');
      answer(req, res, 405, plain, 'only GET is served\n');
    } catch (error) {
      this.#log.error({ err: error }, 'the metrics could not be told');
      answer(req, res, 500, plain, 'Internal error occurred\n');
    }
  }
}

const plain = 'text/plain; charset=utf-8';

function answer(
  req: IncomingMessage,
  res: ServerResponse,
  code: number,
  type: string,
  body: string,
): void {
  res.writeHead(code, {
    ...headers,
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
  });
  res.end(req.method === 'HEAD' ? undefined : body);
}
