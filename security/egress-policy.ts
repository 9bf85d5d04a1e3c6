import { isIP } from 'node:net';
import { AddressList } from './cidr-list.js';

/** IANA special-purpose, multicast and reserved IPv4. */
const special4 = new AddressList([
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
 * What of global unicast IPv6 is special: protocol assignments with Teredo, documentation, 6to4.
 */
const special6 = new AddressList([
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '2620:4f:8000::/48',
]);
const global6 = new AddressList(['2000::/3']);
const loopback = new AddressList(['127.0.0.0/8', '::1/128']);
/** Where clouds answer with credentials. */
const metadata4 = ['169.254.169.254', '169.254.170.2', '100.100.100.200', '168.63.129.16'];
/** An IPv4 address as the two words that IPv6 carries it in. */
const words = (address: string): string => {
  const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number];
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
};
/**
 * The same, also by way of a translator (RFC 6052, RFC 8215), a tunnel (RFC 3056) or the oldest
 * spelling: anyone who opens those networks does not open this.
 */
const metadata = new AddressList([
  ...metadata4,
  'fd00:ec2::254',
  'fd20:ce::254',
  ...metadata4
    .map(words)
    .flatMap((inner) => [
      `::${inner}`,
      `64:ff9b::${inner}`,
      `64:ff9b:1::${inner}`,
      `2002:${inner}::/48`,
    ]),
]);

/** IPv4 written as mapped IPv6, as the IPv4 it is; any other address as it stands. */
function unmapped(address: string): string {
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (dotted) return dotted;
  const pair = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address);
  if (!pair) return address;
  const value = parseInt(pair[1]!, 16) * 65536 + parseInt(pair[2]!, 16);
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
}

/**
 * Judges addresses that a name resolved to, before anything connects to them
 * (docs/design/security.md#outgoing-requests).
 */
export class AddressJudge {
  readonly #allowed: AddressList;
  readonly #loopbackAllowed: boolean;

  /**
   * `allowed`: ranges in CIDR notation that the operator opened; loopback is open while the base
   * URL is itself on it.
   */
  constructor(allowed: readonly string[], loopbackAllowed: boolean) {
    this.#allowed = new AddressList(allowed);
    this.#loopbackAllowed = loopbackAllowed;
  }

  /** Whether an address may be connected to; plain http goes to loopback alone. */
  permits(text: string, secure: boolean): boolean {
    const address = unmapped(text);
    if (isIP(address) === 0 || metadata.has(address)) return false;
    const local = loopback.has(address);
    if (!secure) return local && this.#loopbackAllowed;
    if (this.#allowed.has(address) || (local && this.#loopbackAllowed)) return true;
    return isIP(address) === 4
      ? !special4.has(address)
      : global6.has(address) && !special6.has(address);
  }
}
