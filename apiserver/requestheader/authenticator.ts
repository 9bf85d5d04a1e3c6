import { X509Certificate } from 'node:crypto';
import { TLSSocket, type DetailedPeerCertificate } from 'node:tls';
import type { Caller } from '../../registry/kind.js';
import type { Log } from '../../observability/log.js';
import type { ApiRequest, ApiResponse } from '../http/message.js';
import { trustedDuring, type Chain, type Period } from './chain.js';
import { claimPattern, takeHeaders, userOf } from './headers.js';
import type { ProxyTrust, TrustSource } from './trust.js';

/**
 * What someone at the other end of a connection showed when it began, and what the trust of now
 * makes of it.
 */
interface Peer {
  /** Its certificate and what leads to an authority, as far as it came along or TLS knew it. */
  readonly shown: Chain;
  /** What of it an authority may have signed the last of, by what TLS said. */
  readonly chains: readonly Chain[];
  /** The certificate's common name, where it has exactly one. */
  readonly name: string | undefined;
  trust?: ProxyTrust;
  periods: readonly Period[];
}

/** Certificates of a chain that are looked at. */
const max = 8;
const because =
  'headers that say who someone is are not believed: the certificate shown with them ';
const refusals = {
  expired: `${because}has expired or is not good yet`,
  untrusted: `${because}leads to no authority of front proxies, or is not one for clients`,
  notAllowed: `${because}has a common name that --requestheader-allowed-names does not list`,
};

/** Credentials that do not count beside a front proxy's word. */
const credentials = /^(?:cookie|authorization)$/i;

/**
 * The authentication of callers whom a cluster's front proxy vouches for
 * (docs/design/kubernetes.md#front-proxy). Without a source no one is believed, and the headers are
 * removed all the same.
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
   * Takes every claim of who someone is out of a request, before anything else looks at it; keeps
   * it where a front proxy made it, whose cookies and tokens then go too.
   */
  receive(req: ApiRequest, res: ApiResponse): void {
    const claim = takeHeaders(req, this.#pattern);
    if (!claim) return;
    if (!this.#trusts(req.socket)) return this.#endUnverified(req, res);
    req.claim = claim;
    if (this.caller(req)) takeHeaders(req, credentials);
    else req.claim = undefined;
  }

  /**
   * Whom a front proxy says a request is of, by what is trusted now; undefined where none does, or
   * not any more.
   */
  caller(req: ApiRequest): Caller | undefined {
    const { claim, socket } = req;
    const trust = this.#source?.current;
    const found = claim && trust && this.#trusts(socket) ? userOf(claim, trust) : undefined;
    return found && { type: 'ClusterUser', ...found };
  }

  /**
   * Ends a connection with its answer where TLS has to verify again, by the authorities of now,
   * what leads to one of them.
   */
  #endUnverified({ socket }: ApiRequest, res: ApiResponse): void {
    const peer = this.#peers.get(socket);
    if (peer && peer.chains.length < peer.shown.length) res.setHeader('Connection', 'close');
  }

  /**
   * Whether a front proxy is at the other end of a connection: by its certificate and the
   * authorities of now, however long the connection stands.
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

/** The certificate of anyone who connected, with those that lead on from it; none, or unreadable. */
function peerOf(socket: TLSSocket): Peer | undefined {
  const first = socket.getPeerCertificate(true);
  if (!first?.raw) return undefined;
  const name: unknown = first.subject.CN; // several: a list
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
 * What TLS says of a certificate by an authority that it did not know when the connection began, or
 * out of its time, which is compared with every request. Everything else that it says is final.
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
 * The chains from a certificate towards an authority: all that TLS verified, else the certificate
 * alone, which an authority may have signed itself.
 */
function chainsOf(shown: Chain, { authorized, authorizationError }: TLSSocket): Chain[] {
  if (authorized) return shown.map((_, i) => shown.slice(0, i + 1));
  return undecided.has(String(authorizationError)) ? [shown.slice(0, 1)] : [];
}
