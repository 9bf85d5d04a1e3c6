import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6, SocketAddress } from 'node:net';
import type { CidrList } from '../../security/cidr-list.js';

/**
 * Returns an address as `isIP` knows it, in its shortest form: without port, brackets and zone, and
 * IPv4 for one that is mapped to IPv6 in any spelling (RFC 4291 §2.5.5.2). Undefined if there is
 * none.
 */
function addressOf(text: string): string | undefined {
  const [, bracketed, withPort] =
    /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? [];
  const [address = ''] = (bracketed ?? withPort ?? text).split('%');
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return undefined;
  const shortest = new SocketAddress({ address, family: 'ipv6' }).address;
  const mapped = shortest.startsWith('::ffff:') ? shortest.slice('::ffff:'.length) : '';
  return isIPv4(mapped) ? mapped : shortest;
}

/** Returns the address of the other end of the connection; empty once it is closed. */
const peerOf = ({ socket }: Pick<IncomingMessage, 'socket'>): string => {
  const { remoteAddress = '' } = socket;
  return isIPv4(remoteAddress) ? remoteAddress : (addressOf(remoteAddress) ?? '');
};

/**
 * Returns the client's network, /32 of IPv4 or /64 of IPv6: from the socket, or behind trusted
 * proxies the nearest address that is not one of them.
 */
export function clientNetwork(
  request: Pick<IncomingMessage, 'socket' | 'headers'>,
  trusted: CidrList | undefined,
): string {
  let address = peerOf(request);
  if (!trusted && !address.includes(':')) return address;
  if (trusted && address && trusted.has(address)) {
    const hops = String(request.headers['x-forwarded-for'] ?? '')
      .split(',')
      .map((hop) => addressOf(hop.trim()))
      .reverse();
    for (const hop of hops) {
      if (hop === undefined) break;
      address = hop;
      if (!trusted.has(hop)) break;
    }
  }
  return isIPv6(address) ? `${expand(address).slice(0, 4).join(':')}::/64` : address;
}

/** Reports whether the connection comes from a trusted proxy. */
export const isFromProxy = (request: IncomingMessage, trusted: CidrList | undefined): boolean =>
  trusted !== undefined && trusted.has(peerOf(request));

/** Returns the eight groups of an IPv6 address. */
function expand(address: string): string[] {
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const middle =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...middle, ...right].map((part) => Number.parseInt(part, 16).toString(16));
}
