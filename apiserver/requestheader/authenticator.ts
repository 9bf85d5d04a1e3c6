import { TLSSocket, type DetailedPeerCertificate } from 'node:tls';
import type { Caller } from '../../registry/kind.js';
import type { Log } from '../../observability/log.js';
import type { ApiRequest } from '../http/message.js';
import { provedDuring, type Period } from './chain.js';
import { claimPattern, takeHeaders, userOf } from './headers.js';
import { linkOf, type CertificateLink } from './certificate.js';
import type { ProxyTrust, TrustSource } from './trust.js';

/**
 * What somebody at the other end of a connection proved when it began, taken apart once, and what
 * the trust of now makes of it.
 */
interface Peer {
  readonly leaf: CertificateLink;
  readonly others: readonly CertificateLink[];
  /** Its common name, where it has exactly one. */
  readonly name: string | undefined;
  trust?: ProxyTrust;
  periods: readonly Period[];
}

/** Certificates of a chain that are looked at. */
const max = 8;
const because =
  'headers that say who somebody is are not believed: the certificate shown with them ';
const refusals = {
  expired: `${because}has expired or is not good yet`,
  untrusted: `${because}leads to no authority of front proxies, or is not one for clients`,
  notAllowed: `${because}has a common name that --requestheader-allowed-names does not list`,
};

/** Credentials that do not count beside a front proxy's word. */
const credentials = /^(?:cookie|authorization)$/i;

/**
 * The authentication of callers whom a cluster's front proxy vouches for
 * (docs/design/kubernetes.md#front-proxy). Without a source nobody is believed, and the headers are
 * removed all the same.
 */
export class RequestHeaderAuthenticator {
  readonly #source: TrustSource | undefined;
  readonly #log: Pick<Log, 'warn'>;
  readonly #peers = new WeakMap<TLSSocket, Peer | 'none'>();
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
   * Takes every claim of who somebody is out of a request, before anything else looks at it; keeps
   * it where a front proxy made it, whose cookies and tokens then go too.
   */
  receive(req: ApiRequest): void {
    const claim = takeHeaders(req, this.#pattern);
    if (!claim || !this.#trusts(req.socket)) return;
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
   * Whether a front proxy is at the other end of a connection: by its certificate and the
   * authorities of now, however long the connection stands.
   */
  #trusts(socket: object): boolean {
    const trust = this.#source?.current;
    if (!trust || !(socket instanceof TLSSocket)) return false;
    let peer = this.#peers.get(socket);
    if (!peer) {
      peer = peerOf(socket);
      this.#peers.set(socket, peer);
    }
    if (peer === 'none') return false;
    if (peer.trust !== trust) this.#judge(peer, trust);
    const now = Date.now();
    return peer.periods.some(({ from, until }) => from <= now && now <= until);
  }

  #judge(peer: Peer, trust: ProxyTrust): void {
    const isAllowed =
      trust.allowedNames.length === 0 ||
      (peer.name !== undefined && trust.allowedNames.includes(peer.name));
    peer.trust = trust;
    peer.periods = isAllowed ? provedDuring(peer.leaf, peer.others, trust.links) : [];
    const now = Date.now();
    if (!peer.periods.some(({ from, until }) => from <= now && now <= until))
      this.#log.warn(
        { serial: peer.leaf.certificate.serialNumber },
        isAllowed ? refusalOf(peer) : refusals.notAllowed,
      );
  }
}

const refusalOf = ({ periods }: Peer): string =>
  periods.length > 0 ? refusals.expired : refusals.untrusted;

/** The certificate of whoever connected, with those that came along. */
function peerOf(socket: TLSSocket): Peer | 'none' {
  const first = socket.getPeerCertificate(true);
  if (!first?.raw) return 'none';
  const name: unknown = first.subject.CN; // several: a list
  const seen = new Set<DetailedPeerCertificate>();
  for (
    let one: DetailedPeerCertificate | undefined = first;
    one?.raw && !seen.has(one) && seen.size < max;
    one = one.issuerCertificate
  )
    seen.add(one);
  try {
    const [leaf, ...others] = [...seen].map(({ raw }) => linkOf(raw));
    return { leaf: leaf!, others, name: typeof name === 'string' ? name : undefined, periods: [] };
  } catch {
    return 'none';
  }
}
