/**
 * The width of a network that a limit counts: one subscriber's, the largest that a provider assigns
 * to one subscriber, a site's.
 */
export type Width = 'narrow' | 'middle' | 'wide';

/**
 * A network and the networks around it, narrowest first; `wide` names the record that counts all of
 * them.
 */
export interface Prefixes {
  readonly wide: string;
  readonly within: readonly (readonly [Width, string])[];
}

/**
 * Returns the nested prefixes of a client network: /64, /56 and /48 of IPv6, /32 and /24 of IPv4
 * (`clientNetwork` returns the first of each). Any other text stands for itself.
 */
export function prefixesOf(network: string): Prefixes {
  const groups = /^([0-9a-f]{1,4}):([0-9a-f]{1,4}):([0-9a-f]{1,4}):([0-9a-f]{1,4})::\/64$/.exec(
    network,
  );
  if (groups) {
    const subnet = groups[4]!.padStart(4, '0');
    return {
      wide: `${groups[1]}:${groups[2]}:${groups[3]}::/48`,
      within: [
        ['narrow', subnet],
        ['middle', subnet.slice(0, 2)],
      ],
    };
  }
  const [, front, last] = /^(\d{1,3}\.\d{1,3}\.\d{1,3})\.(\d{1,3})$/.exec(network) ?? [];
  return front === undefined
    ? { wide: network, within: [] }
    : { wide: `${front}.0/24`, within: [['narrow', last!]] };
}
