import { constants, randomUUID } from 'node:crypto';
import { createServer, type Server as HttpServer } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import { Server as NetServer, type AddressInfo } from 'node:net';
import { StatusError, badRequest } from '../registry/status.js';
import { Req, Res } from './classes.js';
import type { TrustSource } from './frontproxy/trust.js';

/** What a service proves with who it is (RFC 8446 4.4.2): a certificate with its key, and other ones from time to time. */
export interface Identity {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  readonly cert: string;
  readonly key: string;
  /** Calls back whenever certificate and key have become other ones. */
  onChange(changed: () => void): void;
}

/** What becomes of a request, and of one whose expectation cannot be met. */
interface Handlers { serve(req: Req, res: Res): void; refuse(req: Req, res: Res): void }

/** Milliseconds without a byte either way after which a connection is cut; a watch's heartbeat keeps its own. */
const stalled = 30_000;
const options = { IncomingMessage: Req, ServerResponse: Res, maxHeaderSize: 16 << 10, headersTimeout: 10_000, requestTimeout: 60_000, requireHostHeader: false, connectionsCheckingInterval: 5_000 };

/** One port and its connections: TLS where it is given an identity, else plain. HTTP/1.1 alone on both. */
export class Listener {
  readonly #http: HttpServer<typeof Req, typeof Res> | SecureServer<typeof Req, typeof Res>;

  constructor(handlers: Handlers, identity?: Identity, proxies?: TrustSource) {
    this.#http = identity ? secure(identity, proxies) : createServer(options);
    this.#http.maxHeadersCount = 0;
    this.#http.keepAliveTimeout = 65_000;
    this.#http.setTimeout(stalled);
    this.#guard(handlers);
  }

  async listen(port: number, address: string): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => { this.#http.once('error', reject).listen(port, address, () => resolve()) });
    return this.#http.address() as AddressInfo;
  }

  /** Takes no more connections and leaves those that are open alone (which close of node:http would not); resolves once the last has ended. */
  close(): Promise<void> { return new Promise((resolve) => { NetServer.prototype.close.call(this.#http, () => { this.#http.close(); resolve() }) }) }

  /** Ends connections that answer nothing at the moment, or all of them. */
  hangUp(which: 'idle' | 'all'): void {
    if (which === 'idle') this.#http.closeIdleConnections();
    else this.#http.closeAllConnections();
  }

  /** No answer is left to node's defaults; a connection on which nobody speaks HTTP, or not after a handshake, gets none. */
  #guard({ serve, refuse }: Handlers): void {
    this.#http.on('request', serve);
    this.#http.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const answering = (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent;
      if (!socket.writable || answering || !/^(HPE|ERR_HTTP)_/.test(error.code ?? '')) return void socket.destroy();
      const status = error.code === 'HPE_HEADER_OVERFLOW' ? new StatusError('RequestHeaderFieldsTooLarge', 'the header is over 16 KiB') : badRequest('the request cannot be read');
      const body = JSON.stringify(status.toStatus());
      socket.end(`HTTP/1.1 ${status.code} ${status.reason}\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nAudit-ID: ${randomUUID()}\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
    this.#http.on('checkContinue', (req, res) => { req.welcome = () => { if (!res.headersSent) res.writeContinue() }; serve(req, res) });
    this.#http.on('checkExpectation', refuse);
    this.#http.on('connect', (_req, socket) => socket.destroy());
  }
}

/** What a front proxy proves itself by is shown once, at the beginning: a session taken up again would come without what leads to its authority, and another handshake might bring another certificate. */
const once = constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION;

/** Connections that are open keep the certificate they began with; the next ones get the newer. Where there may be front proxies, whoever connects is asked for a certificate of their authorities, and needs none. */
function secure(identity: Identity, proxies: TrustSource | undefined): SecureServer<typeof Req, typeof Res> {
  const context = () => ({ cert: identity.cert, key: identity.key, minVersion: identity.minVersion, ...(proxies && { ca: [...(proxies.current?.askedFor ?? [])], secureOptions: once }) });
  const asking = proxies ? { requestCert: true, rejectUnauthorized: false } : {};
  const server = createSecureServer({ ...options, ...context(), ...asking, ALPNProtocols: ['http/1.1'], handshakeTimeout: 10_000 });
  const renew = (): void => { server.setSecureContext(context()) };
  identity.onChange(renew);
  proxies?.onChange(renew);
  return server;
}
