import type { CertificateLink } from './certificate.js';

/** From when until when something is so, in milliseconds since the epoch, both included. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

/** Authorities on the way, at most: what is beyond is no chain that anybody meant. */
const longest = 6;

/**
 * When a certificate is that of a TLS client whom one of the authorities vouches for, itself or by
 * others that came with it (RFC 5280 6.1); never where there is no such way.
 */
export function provedDuring(
  leaf: CertificateLink,
  others: readonly CertificateLink[],
  authorities: readonly CertificateLink[],
): Period[] {
  return upwards([leaf], others, authorities).map((way) => ({
    from: Math.max(...way.map(({ from }) => from)),
    until: Math.min(...way.map(({ until }) => until)),
  }));
}

/** Every way from the last certificate of `way` to an authority, each with all that is on it. */
function upwards(
  way: readonly CertificateLink[],
  others: readonly CertificateLink[],
  authorities: readonly CertificateLink[],
): (readonly CertificateLink[])[] {
  const last = way.at(-1)!;
  if (!last.understood || !last.sound || !last.forClients || way.length > longest) return [];
  const signed = (by: CertificateLink): boolean => issued(by, last, way.length - 1);
  const arrived = authorities
    .filter((one) => one.understood && one.forClients && signed(one))
    .map((one) => [...way, one]);
  return [
    ...arrived,
    ...others
      .filter((one) => !way.includes(one) && signed(one))
      .flatMap((one) => upwards([...way, one], others, authorities)),
  ];
}

/** Whether it is an authority that signed the other, with so many authorities below it. */
function issued(by: CertificateLink, other: CertificateLink, below: number): boolean {
  if (!by.authority || by.below < below) return false;
  try {
    return (
      other.certificate.checkIssued(by.certificate) &&
      other.certificate.verify(by.certificate.publicKey)
    );
  } catch {
    return false;
  }
}
