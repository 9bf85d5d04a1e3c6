/**
 * How wide a network is among those that a limit counts: one subscriber's, what a provider may give
 * one subscriber, a site's.
 */
export type Width = 'narrow' | 'middle' | 'wide';

/**
 * A network with those around it, narrowest first; `wide` names the record that all of them are
 * counted in.
 */
export interface Prefixes {
  readonly wide: string;
  readonly within: readonly (readonly [Width, string])[];
}

/**
 * Returns the nested prefixes of a client network: /64, /56 and /48 of IPv6, /32 and /24 of IPv4
 * (`clientNetwork` gives the first of each). What is no network stands for itself.
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
