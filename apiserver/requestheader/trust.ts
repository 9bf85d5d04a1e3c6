import { X509Certificate } from 'node:crypto';

/**
 * Whom a service believes who someone is, and in which headers: kube-apiserver's settings of the
 * same names (docs/design/kubernetes.md#front-proxy). Names of headers are in lower case.
 */
export interface ProxySettings {
  /** The authorities of front proxies, PEM. */
  readonly authorities: string;
  /** Common names a proxy's certificate may have; any where there is none. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
  readonly uidHeaders: readonly string[];
}

/** The same, ready to judge by; another object whenever anything in it is otherwise. */
export interface ProxyTrust extends ProxySettings {
  /** The authorities. */
  readonly certificates: readonly X509Certificate[];
  /**
   * Those of the authorities that TLS is told of, PEM: anyone who connects is asked for a certificate
   * of theirs. Of several by one name it is told of none: it would try a signature by one with the
   * key of another, and Node ends the connection of which OpenSSL has an error left, though what
   * an authority signed itself is judged here.
   */
  readonly askedFor: readonly string[];
}

/** Where trust comes from; it may change at any time, and there may be none yet. */
export interface TrustSource {
  readonly current: ProxyTrust | undefined;
  /** Calls back whenever it has become another. */
  onChange(changed: () => void): void;
}

/**
 * Headers that mean something to this service or to HTTP: no proxy may be told to say who someone
 * is in them.
 */
const taken = [
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

/**
 * What is wrong with the name of a header, or with what names begin with; undefined where it may be
 * used.
 */
export function wrongHeader(name: string, isPrefix = false): string | undefined {
  if (!token.test(name)) return `${JSON.stringify(name)} is not the name of a header`;
  const lower = name.toLowerCase();
  const meant = taken.find(
    (one) =>
      lower === one ||
      (one.endsWith('-') && lower.startsWith(one)) ||
      (isPrefix && one.startsWith(lower)),
  );
  return meant === undefined
    ? undefined
    : `${name} would stand for ${meant}${meant.endsWith('-') ? '…' : ''}, which means something else`;
}

/** Makes settings ready; throws an Error that says what is wrong with them. */
export function trustOf(settings: ProxySettings): ProxyTrust {
  const blocks = settings.authorities.match(pemBlock) ?? [];
  if (blocks.length === 0) throw new Error('there is no certificate in PEM');
  const certificates = blocks.map((block, i) => {
    try {
      return new X509Certificate(block);
    } catch {
      throw new Error(`certificate ${i + 1} of ${blocks.length} cannot be read`);
    }
  });
  if (!certificates.some(({ ca }) => ca))
    throw new Error('none of the certificates is an authority’s');
  const named = (name: string): number =>
    certificates.filter(({ subject }) => subject === name).length;
  return {
    ...settings,
    authorities: blocks.join('\n'),
    certificates,
    askedFor: blocks.filter((_, i) => named(certificates[i]!.subject) === 1),
  };
}
