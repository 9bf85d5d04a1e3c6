import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import type { CidrList } from '../../security/cidr-list.js';

const withoutMapping = (address: string): string =>
  address.startsWith('::ffff:') ? address.slice(7) : address;

/**
 * Returns the client's network, /32 of IPv4 or /64 of IPv6: from the socket, or behind trusted
 * proxies the nearest address that is not one of them.
 */
export function clientNetwork(
  request: Pick<IncomingMessage, 'socket' | 'headers'>,
  trusted: CidrList | undefined,
): string {
  let address = withoutMapping(request.socket.remoteAddress ?? '');
  if (!trusted && !address.includes(':')) return address;
  if (trusted && address && trusted.has(address)) {
    const hops = String(request.headers['x-forwarded-for'] ?? '')
      .split(',')
      .map((hop) => withoutMapping(hop.trim().split('%')[0]!))
      .reverse();
    for (const hop of hops) {
      if (isIP(hop) === 0) break;
      address = hop;
      if (!trusted.has(hop)) break;
    }
  }
  return isIPv6(address) ? `${expand(address).slice(0, 4).join(':')}::/64` : address;
}

/** Reports whether the connection comes from a trusted proxy. */
export const isFromProxy = (request: IncomingMessage, trusted: CidrList | undefined): boolean =>
  trusted !== undefined && trusted.has(withoutMapping(request.socket.remoteAddress ?? ''));

/** Returns the eight groups of an IPv6 address. */
function expand(address: string): string[] {
  const [head = '', tail] = address.split('%')[0]!.split('::') as [string, string | undefined];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const middle =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...middle, ...right].map((part) => Number.parseInt(part, 16).toString(16));
}
