import { isIPv6 } from 'node:net';

/** A range of addresses of one family, both ends included. */
interface Range {
  readonly text: string;
  readonly isIPv6: boolean;
  readonly first: bigint;
  readonly last: bigint;
}

/** A network that a request may come from, and the named network that contains it, if any. */
export interface NetworkExample {
  /** An IPv4 address, or the /64 of an IPv6 address. */
  readonly network: string;
  readonly within: string | undefined;
}

/**
 * Returns an example for each way in which a network can relate to the named ones (CIDR), found among
 * the ends of each and their neighbours. As networks are nested or apart, the smallest that contains
 * an address says which. Those outside of all come first.
 */
export function networkExamples(named: readonly string[]): NetworkExample[] {
  const ranges = named.map(rangeOf);
  const examples = ranges.flatMap((range) => {
    const { bits, unit } = familyOf(range);
    return [range.first - unit, range.first, range.last - (unit - 1n), range.last + 1n]
      .filter((value) => value >= 0n && value < 1n << bits)
      .map((value) => example(value, range.isIPv6, ranges));
  });
  const distinct = new Map(
    examples.map((example) => [
      `${example.within} ${example.within === undefined && example.network.includes(':')}`,
      example,
    ]),
  );
  return [...distinct.values()].sort(
    (a, b) => Number(a.within !== undefined) - Number(b.within !== undefined),
  );
}

/** The bits of an address, and how many addresses a request's network has. */
const familyOf = (range: Pick<Range, 'isIPv6'>): { bits: bigint; unit: bigint } =>
  range.isIPv6 ? { bits: 128n, unit: 1n << 64n } : { bits: 32n, unit: 1n };

function rangeOf(text: string): Range {
  const [address, length] = text.split('/') as [string, string | undefined];
  const family = isIPv6(address);
  const { bits } = familyOf({ isIPv6: family });
  const size = 1n << (bits - BigInt(length ?? bits));
  const value = numberOf(address);
  const first = value - (value % size);
  return { text, isIPv6: family, first, last: first + size - 1n };
}

function example(value: bigint, isV6: boolean, ranges: readonly Range[]): NetworkExample {
  const { unit } = familyOf({ isIPv6: isV6 });
  const [first, last] = [value - (value % unit), value - (value % unit) + unit - 1n];
  const containing = ranges
    .filter((range) => range.isIPv6 === isV6 && range.first <= first && last <= range.last)
    .sort((a, b) => Number(a.last - a.first - (b.last - b.first)));
  return {
    network: isV6 ? `${textOfIPv6(first)}/64` : textOfIPv4(first),
    within: containing[0]?.text,
  };
}

function numberOf(address: string): bigint {
  if (!isIPv6(address)) {
    return address.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
  }
  const [head = [], tail] = address.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = tail ? Array<string>(8 - head.length - tail.length).fill('0') : [];
  return [...head, ...zeros, ...(tail ?? [])].reduce(
    (value, part) => (value << 16n) | BigInt(`0x${part}`),
    0n,
  );
}

const textOfIPv4 = (value: bigint): string =>
  [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');

const textOfIPv6 = (value: bigint): string =>
  [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n]
    .map((shift) => ((value >> shift) & 0xffffn).toString(16))
    .join(':');
