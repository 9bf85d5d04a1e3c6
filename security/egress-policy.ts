import { isIP } from 'node:net';
import { CidrList } from './cidr-list.js';

/** IANA special-purpose, multicast and reserved IPv4. */
const specialIPv4 = new CidrList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);
/**
 * Special-purpose ranges within global unicast IPv6: protocol assignments with Teredo,
 * documentation, 6to4.
 */
const specialIPv6 = new CidrList([
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '2620:4f:8000::/48',
]);
const globalIPv6 = new CidrList(['2000::/3']);
const loopback = new CidrList(['127.0.0.0/8', '::1/128']);
/** Metadata services of clouds, which return credentials. */
const metadataIPv4 = ['169.254.169.254', '169.254.170.2', '100.100.100.200', '168.63.129.16'];
/** Returns an IPv4 address as the last two groups of an IPv6 address. */
const toIPv6Groups = (address: string): string => {
  const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number];
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
};
/**
 * Also in the forms of translators (RFC 6052, RFC 8215), of tunnels (RFC 3056) and IPv4-compatible:
 * allowing those networks does not allow metadata services.
 */
const metadata = new CidrList([
  ...metadataIPv4,
  'fd00:ec2::254',
  'fd20:ce::254',
  ...metadataIPv4
    .map(toIPv6Groups)
    .flatMap((inner) => [
      `::${inner}`,
      `64:ff9b::${inner}`,
      `64:ff9b:1::${inner}`,
      `2002:${inner}::/48`,
    ]),
]);

/** Converts IPv4-mapped IPv6 to IPv4; returns any other address unchanged. */
function unmapIPv4(address: string): string {
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (dotted) return dotted;
  const pair = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address);
  if (!pair) return address;
  const value = parseInt(pair[1]!, 16) * 65536 + parseInt(pair[2]!, 16);
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
}

/**
 * Decides whether outgoing requests may connect to a resolved address
 * (docs/design/security.md#outgoing-requests).
 */
export class EgressPolicy {
  readonly #allowed: CidrList;
  readonly #loopbackAllowed: boolean;

  /**
   * `allowed`: ranges in CIDR notation that the operator allows. Loopback is allowed if the base
   * URL is on loopback.
   */
  constructor(allowed: readonly string[], loopbackAllowed: boolean) {
    this.#allowed = new CidrList(allowed);
    this.#loopbackAllowed = loopbackAllowed;
  }

  /** Returns whether an address may be connected to; plain http is only permitted to loopback. */
  permits(text: string, secure: boolean): boolean {
    const address = unmapIPv4(text);
    if (isIP(address) === 0 || metadata.has(address)) return false;
    const isLocal = loopback.has(address);
    if (!secure) return isLocal && this.#loopbackAllowed;
    if (this.#allowed.has(address) || (isLocal && this.#loopbackAllowed)) return true;
    return isIP(address) === 4
      ? !specialIPv4.has(address)
      : globalIPv6.has(address) && !specialIPv6.has(address);
  }
}
