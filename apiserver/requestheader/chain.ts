import type { X509Certificate } from 'node:crypto';

/** A certificate chain; each certificate is signed by the next. */
export type Chain = readonly X509Certificate[];

/** A period in milliseconds since the epoch, both ends included. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

/**
 * Returns the periods in which a TLS client certificate is valid for one of the CAs: a CA must have
 * signed the last certificate of one of its chains.
 */
export const trustedPeriods = (chains: readonly Chain[], authorities: Chain): Period[] =>
  authorities
    .flatMap((authority) => chains.map((chain) => [...chain, authority]))
    .filter(isSigned)
    .map((chain) => ({
      from: Math.max(...chain.map(({ validFrom }) => Date.parse(validFrom))),
      until: Math.min(...chain.map(({ validTo }) => Date.parse(validTo))),
    }));

const isSigned = (chain: Chain): boolean =>
  chain.every(
    (certificate, i) =>
      isForClients(certificate) && (i === 0 || isIssued(chain[i - 1]!, certificate)),
  );

/** Reports whether `by` is a CA that signed the certificate. */
function isIssued(certificate: X509Certificate, by: X509Certificate): boolean {
  try {
    return by.ca && certificate.checkIssued(by) && certificate.verify(by.publicKey);
  } catch {
    return false;
  }
}

const clientAuth = '1.3.6.1.5.5.7.3.2';
const anyUsage = '2.5.29.37.0';

/**
 * Reports whether a certificate may be part of a TLS client's chain (RFC 5280 §4.2.1.12); without
 * extended key usages, it may.
 */
function isForClients({ keyUsage }: X509Certificate): boolean {
  const usages = keyUsage; // Node's name for the extended key usages
  return !usages || usages.includes(clientAuth) || usages.includes(anyUsage);
}
