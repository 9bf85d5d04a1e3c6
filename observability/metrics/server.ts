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
  readonly #metrics: Metrics;
  readonly #settings: Readonly<Record<string, unknown>>;
  readonly #log: Log;
  readonly #http: Server;

  /** `settings` as anyone who reaches the port may see them. */
  constructor(metrics: Metrics, settings: Readonly<Record<string, unknown>>, log: Log) {
    this.#metrics = metrics;
    this.#settings = settings;
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
      const path = req.url!.split('?', 1)[0]!;
      if (path !== '/metrics' && path !== '/configz')
        return answer(req, res, 404, 'text/plain; charset=utf-8', '404 page not found\n');
      if (req.method !== 'GET' && req.method !== 'HEAD')
        return answer(req, res, 405, 'text/plain; charset=utf-8', 'only GET is served\n', {
          Allow: 'GET, HEAD',
        });
      if (path === '/configz')
        return answer(
          req,
          res,
          200,
          'application/json',
          `${JSON.stringify({ vestibule: this.#settings }, null, 2)}\n`,
        );
      answer(req, res, 200, this.#metrics.contentType, await this.#metrics.text());
    } catch (error) {
      this.#log.error({ err: error }, 'the metrics could not be told');
      answer(req, res, 500, 'text/plain; charset=utf-8', 'Internal error occurred\n');
    }
  }
}

function answer(
  req: IncomingMessage,
  res: ServerResponse,
  code: number,
  type: string,
  body: string,
  more: Record<string, string> = {},
): void {
  res.writeHead(code, {
    ...headers,
    ...more,
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
  });
  res.end(req.method === 'HEAD' ? undefined : body);
}
