import { hsts } from '../../security/hsts.js';
import { internalError, StatusError } from '../../registry/status.js';
import type { ApiRequest, ApiResponse } from './message.js';

const fixed = [
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'same-origin',
  'Cross-Origin-Resource-Policy',
  'same-origin',
  'Content-Security-Policy',
  "default-src 'none'; frame-ancestors 'none'",
];

const plain: readonly string[] = ['Cache-Control', 'no-store', 'Content-Type', 'application/json'];

const inOnePiece = 8 << 10;

const told = { second: 0, text: '' };

/**
 * The Date header by the clock that judges lifetimes here, made once a second: pages count their
 * waits by it.
 */
function date(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== told.second)
    Object.assign(told, { second, text: new Date(second * 1000).toUTCString() });
  return told.text;
}

/**
 * Headers every answer of the API carries (docs/design/api.md#headers); HSTS is there
 * where the base URL is https.
 */
export class Encoder {
  readonly #headers: readonly string[];

  constructor(baseURL: string) {
    this.#headers = [...fixed, ...hsts(baseURL)];
  }

  /**
   * Bytes already encoded; short ones as latin1 text, which stays the same bytes and which node
   * puts behind the head in one piece.
   */
  send(
    req: ApiRequest,
    res: ApiResponse,
    code: number,
    body: Buffer,
    more: readonly string[] = plain,
  ): void {
    this.#send(
      req,
      res,
      code,
      body.length,
      body.length > inOnePiece ? body : body.toString('latin1'),
      more,
    );
  }

  #send(
    req: ApiRequest,
    res: ApiResponse,
    code: number,
    length: number,
    body: Buffer | string,
    more: readonly string[],
  ): void {
    writeHead(res, code, [
      ...this.#headers,
      'Date',
      date(),
      'Audit-ID',
      req.auditID,
      ...more,
      'Content-Length',
      String(length),
    ]);
    if (req.method === 'HEAD') return void res.end();
    res.bytes += length;
    if (typeof body === 'string') res.end(body, 'latin1');
    else res.end(body);
  }

  /**
   * The headers of a stream, sent before its first event; node frames it in chunks or, for
   * HTTP/1.0, by the connection's end.
   */
  begin(req: ApiRequest, res: ApiResponse, code: number): void {
    res.writeHead(code, [
      ...this.#headers,
      'Audit-ID',
      req.auditID,
      'Cache-Control',
      'no-store',
      'Content-Type',
      'application/json',
    ]);
    res.flushHeaders();
  }

  json(req: ApiRequest, res: ApiResponse, code: number, value: unknown): void {
    const text = JSON.stringify(value);
    const length = Buffer.byteLength(text);
    if (length !== text.length || length > inOnePiece) this.send(req, res, code, Buffer.from(text));
    else this.#send(req, res, code, length, text, plain); // ASCII: its bytes are the same in latin1
  }

  /** The Status of an error; anything that is not a StatusError is a 500 without detail. */
  error(req: ApiRequest, res: ApiResponse, error: unknown): void {
    const status = error instanceof StatusError ? error : internalError();
    this.send(req, res, status.code, Buffer.from(JSON.stringify(status.toStatus())), [
      ...plain,
      ...errorHeaders(status),
    ]);
  }
}

/**
 * What an error says in headers, however its body is shown: `Allow` and its like, and how long to
 * wait.
 */
export function errorHeaders({ headers, details }: StatusError): string[] {
  const wait = details?.retryAfterSeconds;
  return [
    ...Object.entries(headers).flat(),
    ...(wait === undefined ? [] : ['Retry-After', String(wait)]),
  ];
}

/**
 * One write of the head where nothing was set by name before; else by name, so that repeated ones
 * (cookies, warnings) all stay.
 */
function writeHead(res: ApiResponse, code: number, headers: string[]): void {
  if (res.getHeaderNames().length === 0) return void res.writeHead(code, headers);
  for (let i = 0; i < headers.length; i += 2) res.appendHeader(headers[i]!, headers[i + 1]!);
  res.writeHead(code);
}
