import { KeyObject, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

/** A certificate and its private key, as PEM. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

const days = 86_400_000;

/**
 * How long a certificate that is made here is good for, in milliseconds: as long as
 * kube-apiserver's own.
 */
export const lifetime = 365 * days;

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/**
 * Makes a certificate for these host names and addresses that proves itself (RFC 5280 §4.1), good
 * from a day before `now` (clocks differ) for a year after: anyone who trusts it trusts it for these
 * names and for nothing it might sign. What makes it is loaded here, since few starts need it.
 */
export async function makeCertificate(names: readonly string[], now: number): Promise<Pair> {
  const x509 = await import('@peculiar/x509');
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=vestibule',
    notBefore: new Date(now - days),
    notAfter: new Date(now + lifetime),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value })),
      ),
    ],
  });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return { cert: `${certificate.toString('pem')}\n`, key: key.toString() };
}
