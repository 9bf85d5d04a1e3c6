import { X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { type Chain, type Period, trustedPeriods } from './chain.js';
import type { Authorities } from './trust.js';

/** The peer of a connection: the certificates of its handshake, evaluated with the current CAs. */
export interface Peer {
  /**
   * The peer's certificate and those that lead to a CA, as far as they were sent or TLS knew them.
   */
  readonly presented: Chain;
  /** The chains whose last certificate a CA may have signed, according to TLS. */
  readonly chains: readonly Chain[];
  /** The certificate's common name, if it has exactly one. */
  readonly commonName: string | undefined;
  readonly organizations: readonly string[];
  /** The CAs that `periods` are of. */
  trust?: Authorities;
  periods: readonly Period[];
}

/** The maximum number of certificates of a chain. */
const maxChainLength = 8;

/** Returns when the peer's certificate is valid for one of these CAs. */
export const periodsOf = ({ chains }: Peer, { certificates }: Authorities): Period[] =>
  trustedPeriods(chains, certificates);

/** Reports whether the peer's certificate is valid at this moment for the CAs of `periods`. */
export function isValidNow({ periods }: Peer): boolean {
  const now = Date.now();
  return periods.some(({ from, until }) => from <= now && now <= until);
}

/** Returns the peer of a connection; undefined without a certificate, or if it cannot be parsed. */
export function peerOf(socket: TLSSocket): Peer | undefined {
  const first = socket.getPeerCertificate(true);
  if (!first?.raw) return undefined;
  const { CN: commonName, O: organizations = [] } = first.subject;
  const presented = new Set<DetailedPeerCertificate>();
  for (
    let certificate: DetailedPeerCertificate | undefined = first;
    certificate?.raw && !presented.has(certificate) && presented.size < maxChainLength;
    certificate = certificate.issuerCertificate
  ) {
    presented.add(certificate);
  }
  try {
    const chain = [...presented].map(({ raw }) => new X509Certificate(raw));
    return {
      presented: chain,
      chains: chainsOf(chain, socket),
      commonName: typeof commonName === 'string' ? commonName : undefined,
      organizations: [organizations].flat(),
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
