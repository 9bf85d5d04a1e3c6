import { isLoopback } from '../../../security/loopback.js';

/**
 * Returns why a text cannot be the identifier of an Audience; undefined if it can. `baseURL` is the
 * address of this service, whose paths are its own resources.
 */
export function identifierFault(text: string, baseURL: string): string | undefined {
  if (!URL.canParse(text)) return 'must be an absolute URI';
  const url = new URL(text);
  if (!hasScheme(url)) return 'must be an https or urn URI, or http on loopback';
  if (url.username || url.password) return 'must have no user information';
  if (isHierarchical(url) && hostOf(url) === hostOf(new URL(baseURL))) {
    return 'must not be an address of this service';
  }
  return url.href === text || url.href === `${text}/` ? undefined : `must be written ${url.href}`;
}

/** A URN has a namespace and a name in it (RFC 8141 §2). */
const urn = /^urn:[A-Za-z0-9][A-Za-z0-9-]{0,30}[A-Za-z0-9]:./;

const hasScheme = ({ protocol, href, hostname }: URL): boolean =>
  protocol === 'https:' ||
  (protocol === 'http:' && isLoopback(hostname)) ||
  (protocol === 'urn:' && urn.test(href));

const isHierarchical = ({ host }: URL): boolean => host !== '';

/** Returns host and port without the final dot of a fully qualified name. */
const hostOf = ({ hostname, port }: URL): string => `${hostname.replace(/\.$/, '')}:${port}`;
