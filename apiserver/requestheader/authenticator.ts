import { TLSSocket } from 'node:tls';
import type { Log } from '../../observability/log.js';
import type { Caller } from '../../registry/kind.js';
import type { ApiRequest, ApiResponse } from '../http/message.js';
import { identityHeaderPattern, removeHeaders, userOf } from './headers.js';
import { isValidNow, type Peer, peerOf, periodsOf } from './peer.js';
import type { ProxyTrust, TrustSource } from './trust.js';

const messagePrefix = 'ignored identity headers: the client certificate ';
const refusals = {
  expired: `${messagePrefix}has expired or is not yet valid`,
  untrusted: `${messagePrefix}is not issued by a front proxy CA, or not for TLS clients`,
  notAllowed: `${messagePrefix}has a common name that --requestheader-allowed-names does not list`,
};

/**
 * What is removed when a front proxy asserts the user: credentials, and the headers by which a
 * browser says whose page sent the request, because they are about the proxy's site.
 */
const browserHeaders = /^(?:cookie|authorization|origin|sec-fetch-[a-z-]+)$/i;

/**
 * Authenticates users that a cluster's trusted front proxy asserts
 * (docs/design/kubernetes.md#front-proxy). Identity headers are always removed, and ignored without
 * a trust source.
 */
export class RequestHeaderAuthenticator {
  readonly #source: TrustSource | undefined;
  readonly #log: Pick<Log, 'warn'>;
  readonly #peers = new WeakMap<object, Peer>();
  #pattern = identityHeaderPattern();

  constructor(source: TrustSource | undefined, log: Pick<Log, 'warn'>) {
    this.#source = source;
    this.#log = log;
    const updatePattern = (): void => {
      this.#pattern = identityHeaderPattern(source?.current);
    };
    updatePattern();
    source?.onChange(updatePattern);
  }

  /**
   * Removes identity headers from a request before anything else reads it. Keeps them aside if a
   * trusted front proxy sent them, and then also removes cookies, tokens and what says whose page
   * sent the request.
   */
  takeIdentityHeaders(req: ApiRequest, res: ApiResponse): void {
    const assertedHeaders = removeHeaders(req, this.#pattern);
    if (!assertedHeaders) return;
    if (!this.isTrusted(req.socket)) return this.#endUnverified(req, res);
    req.assertedHeaders = assertedHeaders;
    if (this.caller(req)) {
      removeHeaders(req, browserHeaders);
    } else {
      req.assertedHeaders = undefined;
    }
  }

  /** Returns the asserted user under the current trust; undefined if there is none. */
  caller(req: ApiRequest): Caller | undefined {
    const { assertedHeaders, socket } = req;
    const trust = this.#source?.current;
    const user =
      assertedHeaders && trust && this.isTrusted(socket)
        ? userOf(assertedHeaders, trust)
        : undefined;
    return user && { type: 'ClusterUser', ...user };
  }

  /**
   * Closes the connection after the response if TLS must verify the chain again with the current
   * CAs.
   */
  #endUnverified({ socket }: ApiRequest, res: ApiResponse): void {
    const peer = this.#peers.get(socket);
    if (peer && peer.chains.length < peer.presented.length) res.setHeader('Connection', 'close');
  }

  /**
   * Reports whether the peer is a trusted front proxy, by its certificate and the current CAs,
   * regardless of the age of the connection.
   */
  isTrusted(socket: object): boolean {
    const trust = this.#source?.current;
    if (!trust || !(socket instanceof TLSSocket)) return false;
    const peer = this.#peers.get(socket) ?? peerOf(socket);
    if (!peer) return false;
    this.#peers.set(socket, peer);
    if (peer.trust !== trust) this.#evaluate(peer, trust);
    return isValidNow(peer);
  }

  #evaluate(peer: Peer, trust: ProxyTrust): void {
    const isAllowed =
      trust.allowedNames.length === 0 ||
      (peer.commonName !== undefined && trust.allowedNames.includes(peer.commonName));
    peer.trust = trust;
    peer.periods = isAllowed ? periodsOf(peer, trust) : [];
    if (!isValidNow(peer)) {
      this.#log.warn(
        { serial: peer.presented[0]!.serialNumber },
        isAllowed ? refusalOf(peer) : refusals.notAllowed,
      );
    }
  }
}

const refusalOf = ({ periods }: Peer): string =>
  periods.length > 0 ? refusals.expired : refusals.untrusted;
