import { constants } from 'node:crypto';
import { createServer, type Server as HttpServer, STATUS_CODES } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { timeOrderedId } from '../registry/schema/time-ordered-id.js';
import { badRequest, StatusError } from '../registry/status/status.js';
import { ApiRequest, ApiResponse } from './http/message.js';
import {
  isAwaitingAnswer,
  isAwaitingRequest,
  respondToMalformed,
  servePipelined,
} from './http/pipeline.js';
import { type AuthoritySource, tlsAuthorities } from './requestheader/trust.js';

/** The server's certificate and key; may change (RFC 8446 §4.4.2). */
export interface ServingCertificate {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  readonly cert: string;
  readonly key: string;
  /** Calls the listener after certificate and key have changed. */
  onChange(listener: () => void): void;
}

/**
 * `serve` handles a request; `unread` is called for a connection that is closed because no request
 * could be read, with the response if one was sent.
 */
interface Handlers {
  serve(req: ApiRequest, res: ApiResponse): void;
  unread(
    socket: Socket,
    refusal?: { readonly status: StatusError; readonly auditID: string },
  ): void;
}

/**
 * The idle time after which a connection is closed, in milliseconds. That of a watch stays open, and
 * one whose request is still being answered.
 */
const idleTimeoutMs = 30_000;
/**
 * The limits of one request: header size in bytes, and time until its last byte in milliseconds.
 */
export interface ListenerLimits {
  readonly maxHeaderBytes: number;
  readonly timeoutMs: number;
}

const optionsOf = ({ maxHeaderBytes, timeoutMs }: ListenerLimits) => ({
  IncomingMessage: ApiRequest,
  ServerResponse: ApiResponse,
  maxHeaderSize: maxHeaderBytes,
  headersTimeout: 10_000,
  requestTimeout: timeoutMs,
  requireHostHeader: false,
  connectionsCheckingInterval: 5_000,
});

/** One port, with TLS if it has an identity, HTTP/1.1 only. */
export class Listener {
  readonly #http:
    | HttpServer<typeof ApiRequest, typeof ApiResponse>
    | SecureServer<typeof ApiRequest, typeof ApiResponse>;

  readonly #bounds: ListenerLimits;

  constructor(
    handlers: Handlers,
    bounds: ListenerLimits,
    certificate?: ServingCertificate,
    authorities: readonly AuthoritySource[] = [],
  ) {
    this.#bounds = bounds;
    const options = optionsOf(bounds);
    this.#http = certificate ? secure(options, certificate, authorities) : createServer(options);
    this.#http.maxHeadersCount = 0;
    this.#http.keepAliveTimeout = 65_000;
    this.#http.setTimeout(idleTimeoutMs);
    this.#guard(handlers);
  }

  async listen(port: number, address: string): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => {
      this.#http.once('error', reject).listen(port, address, () => resolve());
    });
    return this.#http.address() as AddressInfo;
  }

  /** Stops accepting connections and leaves open ones alone; resolves when the last has ended. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      NetServer.prototype.close.call(this.#http, () => {
        this.#http.close();
        resolve();
      });
    });
  }

  /** Closes idle connections, or all. */
  closeConnections(which: 'idle' | 'all'): void {
    if (which === 'idle') {
      this.#http.closeIdleConnections();
    } else {
      this.#http.closeAllConnections();
    }
  }

  /**
   * Handles every error instead of Node's defaults. A connection without an HTTP message, or
   * without a completed handshake, gets no response.
   */
  #guard({ serve, unread }: Handlers): void {
    const refuse = (socket: Socket, error: Pick<NodeJS.ErrnoException, 'code'>): void =>
      respondToMalformed(socket, () => {
        const refusal = { status: refusalOf(error, this.#bounds), auditID: timeOrderedId() };
        unread(socket, refusal);
        end(socket, refusal.status, refusal.auditID);
      });
    const serveOrdered = (req: ApiRequest, res: ApiResponse): void =>
      servePipelined(req, res, serve);
    this.#http.on('request', serveOrdered);
    this.#http.on('checkContinue', (req, res) => {
      req.sendContinue = () => {
        if (!res.headersSent) res.writeContinue();
      };
      serveOrdered(req, res);
    });
    this.#http.on('checkExpectation', serveOrdered);
    this.#http.on('connect', (_req, socket) => respondToMalformed(socket, () => socket.destroy()));
    this.#http.on('clientError', (error: NodeJS.ErrnoException, duplex) => {
      const socket = duplex as Socket;
      if (!socket.writable || !/^(HPE|ERR_HTTP)_/.test(error.code ?? '')) {
        return void socket.destroy();
      }
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) {
        unread(socket);
        return void socket.destroy();
      }
      refuse(socket, error);
    });
    this.#http.on('timeout', (socket) => {
      if (isAwaitingRequest(socket)) {
        refuse(socket, { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      } else if (!isAwaitingAnswer(socket)) {
        socket.destroy();
      }
    });
  }
}

/** Returns the response to a malformed message. */
function refusalOf(
  { code }: Pick<NodeJS.ErrnoException, 'code'>,
  { maxHeaderBytes }: ListenerLimits,
): StatusError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new StatusError(
      'RequestHeaderFieldsTooLarge',
      `the header is over ${maxHeaderBytes >> 10} KiB`,
    );
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new StatusError('RequestTimeout', 'the request did not arrive in time');
  }
  return badRequest('the request cannot be read');
}

/** Sends the last response of a connection without a request. */
function end(socket: Duplex, status: StatusError, auditID: string): void {
  const body = JSON.stringify(status.toStatus());
  const head = [
    `HTTP/1.1 ${status.code} ${STATUS_CODES[status.code]}`,
    'Content-Type: application/json',
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `Audit-ID: ${auditID}`,
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/**
 * The suites offered: all of TLS 1.3, and of TLS 1.2 those that RFC 9325 §4.2 recommends, with
 * forward secrecy and authenticated encryption.
 */
const ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
].join(':');

/**
 * Certificates are proved in the handshake only. A resumed session would carry the result of
 * verification with former CAs, and a renegotiation might change the certificate.
 */
const noResumption = constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION;

/**
 * Open connections keep their certificate; new ones get the current one. With authorities of client
 * certificates, clients are asked for one, which is optional.
 */
function secure(
  options: ReturnType<typeof optionsOf>,
  certificate: ServingCertificate,
  authorities: readonly AuthoritySource[],
): SecureServer<typeof ApiRequest, typeof ApiResponse> {
  const asksForCertificate = authorities.length > 0;
  const context = () => ({
    cert: certificate.cert,
    key: certificate.key,
    minVersion: certificate.minVersion,
    ciphers,
    ...(asksForCertificate && {
      ca: tlsAuthorities(authorities),
      secureOptions: noResumption,
    }),
  });
  const clientAuth = asksForCertificate ? { requestCert: true, rejectUnauthorized: false } : {};
  const server = createSecureServer({
    ...options,
    ...context(),
    ...clientAuth,
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: 10_000,
  });
  const renew = (): void => {
    server.setSecureContext(context());
  };
  certificate.onChange(renew);
  for (const source of authorities) source.onChange(renew);
  return server;
}

/** How long idle connections stay open after watches have ended, in milliseconds. */
const lingerMs = 1_000;

/** Resolves with `closed`, or after that time. */
export const lingerUntil = (closed: Promise<unknown>): Promise<unknown> =>
  Promise.race([closed, pause(lingerMs, undefined, { ref: false })]);
