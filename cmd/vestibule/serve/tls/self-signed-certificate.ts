import { KeyObject, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { dayMs } from '../../../../registry/schema/units.js';

/** A certificate and its private key, as PEM. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

/** The lifetime of a generated certificate in milliseconds, the same as kube-apiserver's own. */
export const lifetimeMs = 365 * dayMs;

type Generator = typeof import('@peculiar/x509').X509CertificateGenerator;
/** The key pair type of the library, which does not know the newest usages of Node's. */
type GeneratedKeys = Parameters<Generator['createSelfSigned']>[0]['keys'];

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/**
 * Makes a self-signed certificate for these host names and addresses (RFC 5280 §4.1), valid from a
 * day before `now`, since clocks differ, for a year after. It is no CA: trusting it trusts only
 * these names. The library is loaded here, because few starts need it.
 */
export async function makeCertificate(
  names: readonly string[],
  now: number,
): Promise<CertificatePair> {
  const x509 = await import('@peculiar/x509');
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=vestibule',
    notBefore: new Date(now - dayMs),
    notAfter: new Date(now + lifetimeMs),
    keys: keys as GeneratedKeys,
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
