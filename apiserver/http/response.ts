import { internalError, StatusError } from '../../registry/status/status.js';
import { hsts } from '../../security/hsts.js';
import { prefersYAML } from '../codec/accept.js';
import { isWatchRequest } from '../request/request-info.js';
import type { ApiRequest, ApiResponse } from './message.js';

const securityHeaders = [
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'same-origin',
  'Cross-Origin-Resource-Policy',
  'same-origin',
  'Content-Security-Policy',
  "default-src 'none'; frame-ancestors 'none'",
];

const jsonHeaders: readonly string[] = [
  'Cache-Control',
  'no-store',
  'Content-Type',
  'application/json',
  // Pages of what a browser opens are at the same address; clients choose JSON, YAML or a table.
  'Vary',
  'Accept, Sec-Fetch-Mode',
];

const yamlHeaders = jsonHeaders.map((text) =>
  text === 'application/json' ? 'application/yaml' : text,
);

/** Returns the headers of JSON, or of the same text as YAML where the request prefers that. */
const headersOf = ({ headers, requestInfo }: ApiRequest): readonly string[] =>
  prefersYAML(headers.accept) && !(requestInfo && isWatchRequest(requestInfo))
    ? yamlHeaders
    : jsonHeaders;

const maxTextLength = 8 << 10;

const dateCache = { second: 0, text: '' };

/**
 * Returns the Date header by the clock that also decides lifetimes, because pages compute their
 * waits from it. Cached for a second.
 */
function date(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateCache.second) {
    Object.assign(dateCache, { second, text: new Date(second * 1000).toUTCString() });
  }
  return dateCache.text;
}

/**
 * Writes responses with the headers that every API response has (docs/design/api.md#headers); HSTS
 * only with an https base URL.
 */
export class Encoder {
  readonly #headers: readonly string[];

  constructor(baseURL: string) {
    this.#headers = [...securityHeaders, ...hsts(baseURL)];
  }

  /**
   * Sends encoded bytes. Short bodies are passed as latin1 text, which keeps the bytes and lets
   * Node write head and body at once.
   */
  send(
    req: ApiRequest,
    res: ApiResponse,
    code: number,
    body: Buffer,
    more: readonly string[] = headersOf(req),
  ): void {
    this.#send(
      req,
      res,
      code,
      body.length,
      body.length > maxTextLength ? body : body.toString('latin1'),
      more,
    );
  }

  /** Sends a body in two parts without copying the second one, which is long. */
  sendParts(req: ApiRequest, res: ApiResponse, first: Buffer, second: Buffer): void {
    const length = first.length + second.length;
    if (length <= maxTextLength) return this.send(req, res, 200, Buffer.concat([first, second]));
    this.#writeHead(req, res, 200, length, headersOf(req));
    if (req.method === 'HEAD') return void res.end();
    res.bytes += length;
    res.write(first);
    res.end(second);
  }

  #send(
    req: ApiRequest,
    res: ApiResponse,
    code: number,
    length: number,
    body: Buffer | string,
    more: readonly string[],
  ): void {
    this.#writeHead(req, res, code, length, more);
    if (req.method === 'HEAD') return void res.end();
    res.bytes += length;
    if (typeof body === 'string') {
      res.end(body, 'latin1');
    } else {
      res.end(body);
    }
  }

  #writeHead(
    { auditID }: ApiRequest,
    res: ApiResponse,
    code: number,
    length: number,
    more: readonly string[],
  ): void {
    writeHead(res, code, [
      ...this.#headers,
      'Date',
      date(),
      'Audit-ID',
      auditID,
      ...more,
      'Content-Length',
      String(length),
    ]);
  }

  /**
   * Sends the headers of a stream before its first event. Node frames it in chunks, or for HTTP/1.0
   * by closing the connection.
   */
  begin(req: ApiRequest, res: ApiResponse, code: number): void {
    res.writeHead(code, [...this.#headers, 'Audit-ID', req.auditID, ...headersOf(req)]);
    res.flushHeaders();
  }

  json(req: ApiRequest, res: ApiResponse, code: number, value: unknown): void {
    const text = JSON.stringify(value);
    const length = Buffer.byteLength(text);
    if (length !== text.length || length > maxTextLength) {
      this.send(req, res, code, Buffer.from(text));
    } else {
      this.#send(req, res, code, length, text, headersOf(req)); // ASCII has the same bytes in latin1
    }
  }

  /** Sends the Status of an error; anything other than a StatusError is a 500 without detail. */
  error(req: ApiRequest, res: ApiResponse, error: unknown): void {
    const status = error instanceof StatusError ? error : internalError();
    this.send(req, res, status.code, Buffer.from(JSON.stringify(status.toStatus())), [
      ...headersOf(req),
      ...errorHeaders(status),
    ]);
  }
}

/**
 * Returns the headers of an error, such as `Allow` and Retry-After, for any representation of the
 * body.
 */
export function errorHeaders({ headers, details }: StatusError): string[] {
  const retryAfter = details?.retryAfterSeconds;
  return [
    ...Object.entries(headers).flat(),
    ...(retryAfter === undefined ? [] : ['Retry-After', String(retryAfter)]),
  ];
}

/**
 * Writes the head. If headers were set before, appends each, so that repeated ones (cookies,
 * warnings) are kept.
 */
function writeHead(res: ApiResponse, code: number, headers: string[]): void {
  if (res.getHeaderNames().length === 0) return void res.writeHead(code, headers);
  for (let i = 0; i < headers.length; i += 2) res.appendHeader(headers[i]!, headers[i + 1]!);
  res.writeHead(code);
}
