import { BlockList, isIPv6 } from 'node:net';

/** A list of addresses and networks in CIDR notation, IPv4 and IPv6. */
export class CidrList {
  readonly #list = new BlockList();

  constructor(networks: readonly string[]) {
    for (const network of networks) {
      const [address, bits] = network.split('/') as [string, string | undefined];
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      this.#list.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
    }
  }

  /** Returns whether an address is in one of them. */
  has(address: string): boolean {
    return this.#list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  }
}
