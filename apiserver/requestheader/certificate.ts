import { X509Certificate } from 'node:crypto';

/** A certificate as a chain needs to know it, taken apart once. */
export interface CertificateLink {
  readonly certificate: X509Certificate;
  /** When it is good, in milliseconds since the epoch, both included. */
  readonly from: number;
  readonly until: number;
  /**
   * Whether it may sign other certificates, and how many authorities may stand between it and the
   * last (RFC 5280 4.2.1.9).
   */
  readonly authority: boolean;
  readonly below: number;
  /**
   * Whether it may stand in a chain that proves a TLS client (RFC 5280 4.2.1.12): nothing said
   * means anything.
   */
  readonly forClients: boolean;
  /**
   * Whether there is nothing in it that a chain would have to obey and this reader does not know.
   */
  readonly understood: boolean;
  /** Whether it is signed as is good enough today. */
  readonly sound: boolean;
}

/** What is obeyed: key usage, names, whether it is an authority, and extended key usage. */
const known = new Set(['551d0f', '551d11', '551d13', '551d25']);
const nameConstraints = '551d1e';
const extendedKeyUsage = '551d25';
/** RSA with SHA-2, also as PSS; ECDSA with SHA-2; Ed25519. */
const signatures = new Set([
  '2a864886f70d01010b',
  '2a864886f70d01010c',
  '2a864886f70d01010d',
  '2a864886f70d01010a',
  '2a8648ce3d040302',
  '2a8648ce3d040303',
  '2a8648ce3d040304',
  '2b6570',
]);
const clientAuth = '1.3.6.1.5.5.7.3.2';
const anyUsage = '2.5.29.37.0';

/** Takes a certificate in DER or PEM apart; throws where it is none. */
export function linkOf(bytes: Buffer | string): CertificateLink {
  const certificate = new X509Certificate(bytes);
  const { algorithm, extensions } = partsOf(certificate.raw);
  const usages = certificate.keyUsage as readonly string[] | undefined; // the extended ones, as Node calls them
  const ids = extensions.map(({ id }) => id);
  return {
    certificate,
    from: Date.parse(certificate.validFrom),
    until: Date.parse(certificate.validTo),
    authority: certificate.ca,
    below: belowOf(extensions.find(({ id }) => id === '551d13')?.value),
    forClients: usages
      ? usages.includes(clientAuth) || usages.includes(anyUsage)
      : !ids.includes(extendedKeyUsage),
    sound: signatures.has(algorithm),
    understood:
      new Set(ids).size === ids.length &&
      !ids.includes(nameConstraints) &&
      extensions.every(({ id, critical }) => !critical || known.has(id)),
  };
}

interface Extension {
  readonly id: string;
  readonly critical: boolean;
  readonly value: Buffer;
}

/** What Node does not tell of a certificate (RFC 5280 4.1). */
function partsOf(der: Buffer): { algorithm: string; extensions: Extension[] } {
  const [body, signedBy] = children(children(der)[0]!.value);
  const list = children(body!.value).find(({ tag }) => tag === 0xa3);
  const extensions = list
    ? children(children(list.value)[0]!.value).map(({ value }): Extension => {
        const [id, ...rest] = children(value);
        return {
          id: id!.value.toString('hex'),
          critical: rest.length > 1 && rest[0]!.value[0] !== 0,
          value: rest.at(-1)!.value,
        };
      })
    : [];
  return { algorithm: children(signedBy!.value)[0]!.value.toString('hex'), extensions };
}

/** pathLenConstraint; none means any number. */
function belowOf(value: Buffer | undefined): number {
  const found = value && children(children(value)[0]!.value).find(({ tag }) => tag === 0x02);
  return found ? found.value.readUIntBE(0, Math.min(found.value.length, 6)) : Infinity;
}

interface Value {
  readonly tag: number;
  readonly value: Buffer;
}

/**
 * Values one after the other by the Distinguished Encoding Rules (X.690 8.1), of a certificate that
 * OpenSSL could read.
 */
function children(der: Buffer): Value[] {
  const found: Value[] = [];
  for (let at = 0; at < der.length; ) {
    const short = der[at + 1]!;
    const more = short < 0x80 ? 0 : short - 0x80;
    const begin = at + 2 + more;
    const end = begin + (more === 0 ? short : der.readUIntBE(at + 2, more));
    if (end > der.length) throw new RangeError('a value is longer than what it is in');
    found.push({ tag: der[at]!, value: der.subarray(begin, end) });
    at = end;
  }
  return found;
}
