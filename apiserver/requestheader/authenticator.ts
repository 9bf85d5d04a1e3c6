import { X509Certificate } from 'node:crypto';
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { Log } from '../../observability/log.js';
import type { Caller } from '../../registry/kind.js';
import type { ApiRequest, ApiResponse } from '../http/message.js';
import { type Chain, type Period, trustedPeriods } from './chain.js';
import { identityHeaderPattern, removeHeaders, userOf } from './headers.js';
import type { ProxyTrust, TrustSource } from './trust.js';

/**
 * The peer of a connection: the certificates of its handshake, evaluated with the current trust.
 */
interface Peer {
  /**
   * The peer's certificate and those that lead to a CA, as far as they were sent or TLS knew them.
   */
  readonly presented: Chain;
  /** The chains whose last certificate a CA may have signed, according to TLS. */
  readonly chains: readonly Chain[];
  /** The certificate's common name, if it has exactly one. */
  readonly name: string | undefined;
  trust?: ProxyTrust;
  periods: readonly Period[];
}

/** The maximum number of certificates of a chain. */
const maxChainLength = 8;
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
    if (!this.#isTrusted(req.socket)) return this.#endUnverified(req, res);
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
      assertedHeaders && trust && this.#isTrusted(socket)
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
  #isTrusted(socket: object): boolean {
    const trust = this.#source?.current;
    if (!trust || !(socket instanceof TLSSocket)) return false;
    const peer = this.#peers.get(socket) ?? peerOf(socket);
    if (!peer) return false;
    this.#peers.set(socket, peer);
    if (peer.trust !== trust) this.#evaluate(peer, trust);
    const now = Date.now();
    return peer.periods.some(({ from, until }) => from <= now && now <= until);
  }

  #evaluate(peer: Peer, trust: ProxyTrust): void {
    const isAllowed =
      trust.allowedNames.length === 0 ||
      (peer.name !== undefined && trust.allowedNames.includes(peer.name));
    peer.trust = trust;
    peer.periods = isAllowed ? trustedPeriods(peer.chains, trust.certificates) : [];
    const now = Date.now();
    if (!peer.periods.some(({ from, until }) => from <= now && now <= until)) {
      this.#log.warn(
        { serial: peer.presented[0]!.serialNumber },
        isAllowed ? refusalOf(peer) : refusals.notAllowed,
      );
    }
  }
}

const refusalOf = ({ periods }: Peer): string =>
  periods.length > 0 ? refusals.expired : refusals.untrusted;

/** Returns the peer's certificate chain; undefined if there is none or it cannot be parsed. */
function peerOf(socket: TLSSocket): Peer | undefined {
  const first = socket.getPeerCertificate(true);
  if (!first?.raw) return undefined;
  const name: unknown = first.subject.CN; // an array if there are several
  const presented = new Set<DetailedPeerCertificate>();
  for (
    let one: DetailedPeerCertificate | undefined = first;
    one?.raw && !presented.has(one) && presented.size < maxChainLength;
    one = one.issuerCertificate
  ) {
    presented.add(one);
  }
  try {
    const chain = [...presented].map(({ raw }) => new X509Certificate(raw));
    return {
      presented: chain,
      chains: chainsOf(chain, socket),
      name: typeof name === 'string' ? name : undefined,
      periods: [],
    };
  } catch {
    return undefined;
  }
}

/**
 * TLS verification errors that depend on the CAs at the handshake or on the time. They are
 * evaluated for each request; all other errors are final.
 */
const recheckedErrors = new Set([
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_NOT_YET_VALID',
  'CERT_HAS_EXPIRED',
]);

/**
 * Returns the candidate chains towards a CA: all that TLS verified, otherwise the certificate
 * alone, which a CA may have signed directly.
 */
function chainsOf(presented: Chain, { authorized, authorizationError }: TLSSocket): Chain[] {
  if (authorized) return presented.map((_, i) => presented.slice(0, i + 1));
  return recheckedErrors.has(String(authorizationError)) ? [presented.slice(0, 1)] : [];
}
