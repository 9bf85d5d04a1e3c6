import type { X509Certificate } from 'node:crypto';

/** A certificate and those that lead from it to an authority, each signed by the next. */
export type Chain = readonly X509Certificate[];

/** From when until when something is so, in milliseconds since the epoch, both included. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

/**
 * When a certificate is that of a TLS client of one of the authorities: where an authority signed
 * the last of one of these chains, which all begin with the certificate.
 */
export const trustedDuring = (chains: readonly Chain[], authorities: Chain): Period[] =>
  authorities
    .flatMap((one) => chains.map((chain) => [...chain, one]))
    .filter(isSigned)
    .map((chain) => ({
      from: Math.max(...chain.map(({ validFrom }) => Date.parse(validFrom))),
      until: Math.min(...chain.map(({ validTo }) => Date.parse(validTo))),
    }));

const isSigned = (chain: Chain): boolean =>
  chain.every((one, i) => isForClients(one) && (i === 0 || isIssued(chain[i - 1]!, one)));

/** Whether it is an authority that signed the other. */
function isIssued(one: X509Certificate, by: X509Certificate): boolean {
  try {
    return by.ca && one.checkIssued(by) && one.verify(by.publicKey);
  } catch {
    return false;
  }
}

const clientAuth = '1.3.6.1.5.5.7.3.2';
const anyUsage = '2.5.29.37.0';

/**
 * Whether it may stand in a chain that proves a TLS client (RFC 5280 §4.2.1.12): nothing said means
 * anything.
 */
function isForClients({ keyUsage }: X509Certificate): boolean {
  const usages = keyUsage as readonly string[] | undefined; // the extended ones, as Node calls them
  return !usages || usages.includes(clientAuth) || usages.includes(anyUsage);
}
