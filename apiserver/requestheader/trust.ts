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

/** Parsed settings. Any change creates a new object. */
export interface ProxyTrust extends ProxySettings {
  /** The parsed CA certificates. */
  readonly certificates: readonly X509Certificate[];
  /**
   * The CA certificates (PEM) that TLS uses to request and verify client certificates. CAs that
   * share a subject are left out: OpenSSL might check a signature with the wrong key, and Node
   * would then end the connection. Certificates that such a CA signed directly are verified here.
   */
  readonly tlsAuthorities: readonly string[];
}

/** A source of trust, which may change at any time and may be empty at first. */
export interface TrustSource {
  readonly current: ProxyTrust | undefined;
  /** Calls the listener after each change. */
  onChange(listener: () => void): void;
}

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

/** Parses settings; throws an Error with the problem. */
export function parseProxySettings(settings: ProxySettings): ProxyTrust {
  const blocks = settings.authorities.match(pemBlock) ?? [];
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
  const subjectCount = (name: string): number =>
    certificates.filter(({ subject }) => subject === name).length;
  return {
    ...settings,
    authorities: blocks.join('\n'),
    certificates,
    tlsAuthorities: blocks.filter((_, i) => subjectCount(certificates[i]!.subject) === 1),
  };
}
