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
 * Serves `/metrics` and `/configz` on a separate port for the monitoring network; without
 * authentication.
 */
export class MetricsPort {
  readonly #pages: ReadonlyMap<string, { readonly type: string; text(): Promise<string> }>;
  readonly #log: Log;
  readonly #http: Server;

  /** `settings`: without secrets, since anyone with access to the port can read them. */
  constructor(metrics: Metrics, settings: () => Readonly<Record<string, unknown>>, log: Log) {
    const settingsText = (): string => `${JSON.stringify({ vestibule: settings() }, null, 2)}\n`;
    this.#pages = new Map([
      ['/metrics', { type: metrics.contentType, text: () => metrics.text() }],
      ['/configz', { type: 'application/json', text: async () => settingsText() }],
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
      if (!page) return respond(req, res, 404, plainText, '404 page not found\n');
      if (req.method === 'GET' || req.method === 'HEAD') {
        return respond(req, res, 200, page.type, await page.text());
      }
      res.setHeader('Allow', 'GET, HEAD');
      respond(req, res, 405, plainText, 'only GET is served\n');
    } catch (error) {
      this.#log.error({ err: error }, 'metrics could not be rendered');
      respond(req, res, 500, plainText, 'Internal error occurred\n');
    }
  }
}

const plainText = 'text/plain; charset=utf-8';

function respond(
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
