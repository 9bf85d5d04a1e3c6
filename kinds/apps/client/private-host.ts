import { isIP } from 'node:net';
import { CidrList } from '../../../security/cidr-list.js';

/** RFC 1918, and the unique local addresses of RFC 4193. */
const networks = new CidrList(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']);

/**
 * Returns whether the host of a URL is in a private network by its own name: an address of one, or a name
 * in a domain that exists there only (RFC 6762 §3, RFC 8375).
 */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host)) return networks.has(host);
  return /[^.]\.(?:local|home\.arpa)$/.test(host);
}

/** Returns whether a redirect URI is http in a private network. */
export function isPrivateHTTP(uri: string): boolean {
  const url = URL.parse(uri);
  return url?.protocol === 'http:' && isPrivateHost(url.hostname);
}
