import { X509Certificate } from 'node:crypto';
import { TLSSocket, type DetailedPeerCertificate } from 'node:tls';
import type { Caller } from '../../registry/kind.js';
import type { Log } from '../../observability/log.js';
import type { ApiRequest, ApiResponse } from '../http/message.js';
import { trustedDuring, type Chain, type Period } from './chain.js';
import { claimPattern, takeHeaders, userOf } from './headers.js';
import type { ProxyTrust, TrustSource } from './trust.js';

/**
 * The peer of a connection: the certificates of its handshake, evaluated with the current trust.
 */
interface Peer {
  /**
   * The peer's certificate and those that lead to a CA, as far as they were sent or TLS knew them.
   */
  readonly shown: Chain;
  /** The chains whose last certificate a CA may have signed, according to TLS. */
  readonly chains: readonly Chain[];
  /** The certificate's common name, if it has exactly one. */
  readonly name: string | undefined;
  trust?: ProxyTrust;
  periods: readonly Period[];
}

/** The maximum number of certificates of a chain. */
const max = 8;
const because =
  'headers that say who someone is are not believed: the certificate shown with them ';
const refusals = {
  expired: `${because}has expired or is not good yet`,
  untrusted: `${because}leads to no authority of front proxies, or is not one for clients`,
  notAllowed: `${because}has a common name that --requestheader-allowed-names does not list`,
};

/** Credentials that are removed when a front proxy asserts the user. */
const credentials = /^(?:cookie|authorization)$/i;

/**
 * Authenticates users that a cluster's trusted front proxy asserts
 * (docs/design/kubernetes.md#front-proxy). Identity headers are always removed, and ignored without
 * a trust source.
 */
export class RequestHeaderAuthenticator {
  readonly #source: TrustSource | undefined;
  readonly #log: Pick<Log, 'warn'>;
  readonly #peers = new WeakMap<object, Peer>();
  #pattern = claimPattern();

  constructor(source: TrustSource | undefined, log: Pick<Log, 'warn'>) {
    this.#source = source;
    this.#log = log;
    const follow = (): void => {
      this.#pattern = claimPattern(source?.current);
    };
    follow();
    source?.onChange(follow);
  }

  /**
   * Removes identity headers from a request before anything else reads it. Keeps them aside if a
   * trusted front proxy sent them, and then also removes cookies and tokens.
   */
  receive(req: ApiRequest, res: ApiResponse): void {
    const claim = takeHeaders(req, this.#pattern);
    if (!claim) return;
    if (!this.#trusts(req.socket)) return this.#endUnverified(req, res);
    req.claim = claim;
    if (this.caller(req)) takeHeaders(req, credentials);
    else req.claim = undefined;
  }

  /** Returns the asserted user under the current trust; undefined if there is none. */
  caller(req: ApiRequest): Caller | undefined {
    const { claim, socket } = req;
    const trust = this.#source?.current;
    const found = claim && trust && this.#trusts(socket) ? userOf(claim, trust) : undefined;
    return found && { type: 'ClusterUser', ...found };
  }

  /**
   * Closes the connection after the response if TLS must verify the chain again with the current
   * CAs.
   */
  #endUnverified({ socket }: ApiRequest, res: ApiResponse): void {
    const peer = this.#peers.get(socket);
    if (peer && peer.chains.length < peer.shown.length) res.setHeader('Connection', 'close');
  }

  /**
   * Reports whether the peer is a trusted front proxy, by its certificate and the current CAs,
   * regardless of the age of the connection.
   */
  #trusts(socket: object): boolean {
    const trust = this.#source?.current;
    if (!trust || !(socket instanceof TLSSocket)) return false;
    const peer = this.#peers.get(socket) ?? peerOf(socket);
    if (!peer) return false;
    this.#peers.set(socket, peer);
    if (peer.trust !== trust) this.#judge(peer, trust);
    const now = Date.now();
    return peer.periods.some(({ from, until }) => from <= now && now <= until);
  }

  #judge(peer: Peer, trust: ProxyTrust): void {
    const isAllowed =
      trust.allowedNames.length === 0 ||
      (peer.name !== undefined && trust.allowedNames.includes(peer.name));
    peer.trust = trust;
    peer.periods = isAllowed ? trustedDuring(peer.chains, trust.certificates) : [];
    const now = Date.now();
    if (!peer.periods.some(({ from, until }) => from <= now && now <= until))
      this.#log.warn(
        { serial: peer.shown[0]!.serialNumber },
        isAllowed ? refusalOf(peer) : refusals.notAllowed,
      );
  }
}

const refusalOf = ({ periods }: Peer): string =>
  periods.length > 0 ? refusals.expired : refusals.untrusted;

/** Returns the peer's certificate chain; undefined if there is none or it cannot be parsed. */
function peerOf(socket: TLSSocket): Peer | undefined {
  const first = socket.getPeerCertificate(true);
  if (!first?.raw) return undefined;
  const name: unknown = first.subject.CN; // an array if there are several
  const shown = new Set<DetailedPeerCertificate>();
  for (
    let one: DetailedPeerCertificate | undefined = first;
    one?.raw && !shown.has(one) && shown.size < max;
    one = one.issuerCertificate
  )
    shown.add(one);
  try {
    const chain = [...shown].map(({ raw }) => new X509Certificate(raw));
    return {
      shown: chain,
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
const undecided = new Set([
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
function chainsOf(shown: Chain, { authorized, authorizationError }: TLSSocket): Chain[] {
  if (authorized) return shown.map((_, i) => shown.slice(0, i + 1));
  return undecided.has(String(authorizationError)) ? [shown.slice(0, 1)] : [];
}
