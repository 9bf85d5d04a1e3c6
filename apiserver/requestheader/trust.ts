import { X509Certificate } from 'node:crypto';

/**
 * The trusted front proxies and their identity headers: kube-apiserver's settings of the same names
 * (docs/design/kubernetes.md#front-proxy). Header names are in lower case.
 */
export interface ProxySettings {
  /** The CA certificates of front proxies, in PEM. */
  readonly authorities: string;
  /** The allowed common names of client certificates; any name if empty. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
  readonly uidHeaders: readonly string[];
}

/** CA certificates of TLS clients. Any change creates a new object. */
export interface Authorities {
  /** The CA certificates, in PEM. */
  readonly authorities: string;
  /** The same, parsed. */
  readonly certificates: readonly X509Certificate[];
}

/** Parsed settings. */
export interface ProxyTrust extends ProxySettings, Authorities {}

/** A source of CA certificates, which may change at any time and may be empty at first. */
export interface AuthoritySource<Current extends Authorities = Authorities> {
  readonly current: Current | undefined;
  /** Calls the listener after each change. */
  onChange(listener: () => void): void;
}

/** A source of trust in front proxies. */
export type TrustSource = AuthoritySource<ProxyTrust>;

/** Headers that this service or HTTP uses, which therefore cannot be identity headers. */
const reservedHeaders = [
  'host',
  'authorization',
  'cookie',
  'origin',
  'referer',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'content-',
  'accept',
  'accept-',
  'if-',
  'sec-',
  'user-agent',
  'forwarded',
  'x-forwarded-',
  'audit-id',
  'impersonate-',
  'proxy-',
  'date',
  'via',
  'range',
  'prefer',
  'dpop',
  'traceparent',
  'tracestate',
  'cache-control',
  'pragma',
];
const token = /^[\w!#$%&'*+.^`|~-]+$/;
const pemBlock = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Returns the problem of an identity header name or prefix, or undefined if it can be used. */
export function headerNameProblem(name: string, isPrefix = false): string | undefined {
  if (!token.test(name)) return `${JSON.stringify(name)} is not a valid header name`;
  const lower = name.toLowerCase();
  const reserved = reservedHeaders.find(
    (reservedHeader) =>
      lower === reservedHeader ||
      (reservedHeader.endsWith('-') && lower.startsWith(reservedHeader)) ||
      (isPrefix && reservedHeader.startsWith(lower)),
  );
  return reserved === undefined
    ? undefined
    : `${name} would replace ${reserved}${reserved.endsWith('-') ? '…' : ''}, which has another meaning`;
}

/** Parses CA certificates in PEM; throws an Error with the problem. */
export function parseAuthorities(pem: string): Authorities {
  const blocks = pem.match(pemBlock) ?? [];
  if (blocks.length === 0) throw new Error('it contains no PEM certificate');
  const certificates = blocks.map((block, i) => {
    try {
      return new X509Certificate(block);
    } catch {
      throw new Error(`certificate ${i + 1} of ${blocks.length} cannot be read`);
    }
  });
  if (!certificates.some(({ ca }) => ca)) {
    throw new Error('none of the certificates is a CA certificate');
  }
  return { authorities: blocks.join('\n'), certificates };
}

/** Parses settings; throws an Error with the problem. */
export const parseProxySettings = (settings: ProxySettings): ProxyTrust => ({
  ...settings,
  ...parseAuthorities(settings.authorities),
});

/**
 * Returns the CA certificates (PEM) that TLS uses to request and verify client certificates. CAs that
 * share a subject are left out: OpenSSL might check a signature with the wrong key, and Node would
 * then end the connection. Certificates that such a CA signed directly are verified for each request.
 */
export function tlsAuthorities(sources: readonly AuthoritySource[]): string[] {
  const certificates = sources.flatMap(({ current }) => current?.certificates ?? []);
  const distinct = [
    ...new Map(
      certificates.map((certificate) => [certificate.fingerprint256, certificate]),
    ).values(),
  ];
  const subjectCount = (name: string): number =>
    distinct.filter(({ subject }) => subject === name).length;
  return distinct.filter(({ subject }) => subjectCount(subject) === 1).map(String);
}
