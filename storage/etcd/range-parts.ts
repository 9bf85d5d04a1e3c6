import type { Entry, Range } from '../storage.js';

/** The number of characters of a key that positions are computed from. */
const positionLength = 48;

/** The characters that most keys consist of. A space, which none has, stands for the end of a key. */
const alphabet = ' !-./0123456789abcdefghijklmnopqrstuvwxyz~';
const base = BigInt(alphabet.length);

/** The digit of each character: that of the last one of the alphabet that is not behind it. */
const digits = Array.from({ length: 128 }, (_, code) =>
  BigInt(
    Math.max(
      0,
      [...alphabet].findLastIndex((character) => character.charCodeAt(0) <= code),
    ),
  ),
);

/** How many of the keys that are wanted a part should have, in percent. */
const roominess = 130n;

/**
 * Parts with too few keys are doubled, so that the first one behind a gap has at most about as many
 * keys as would fit into the gap. Gaps between kinds are wider than that by far: from this factor
 * on, the factor is squared.
 */
const maxDoubled = 256n;

/** By how much the distance may grow with one part: a part that ends in a gap seems sparse. */
const maxStretch = 2n;

/** Distances of so many entries in a row are an estimate by themselves. */
const manyRead = 50;

/** The most ranges whose distances are kept. */
const maxKept = 100;

/** What is known about the keys of a large range, as positions. */
interface KeySpacing {
  /** The mean distance of the keys in the part that was read last. */
  readonly distance: bigint;
  /** The widest gap: there was no key between the two positions. */
  readonly gap: { readonly from: bigint; readonly to: bigint };
}

/**
 * Divides large ranges into parts. etcd visits every key of a range to count it, even if a request
 * has a small limit, so that a page of a million keys would cost as much as all of them. The end of
 * a part is estimated from the distance of the keys that were read last.
 */
export class RangeParts {
  readonly #minCount: number;
  /** The spacing of the keys of large ranges, by the end of the range. */
  readonly #spacings = new Map<string, KeySpacing>();

  /** Ranges with fewer than `minCount` keys are not divided. */
  constructor(minCount = 10_000) {
    this.#minCount = minCount;
  }

  /** Begins to read a range. */
  reader({ end }: Range): PartReader {
    return new PartReader(end, this.#minCount, this.#spacings.get(end), (spacing) => {
      if (this.#spacings.size >= maxKept) this.#spacings.clear();
      this.#spacings.set(end, spacing);
    });
  }
}

/** The parts of one range, in order. */
export class PartReader {
  readonly #end: string;
  readonly #minCount: number;
  readonly #keep: (spacing: KeySpacing) => void;
  #spacing: KeySpacing | undefined;
  #scale = 1n;

  constructor(
    end: string,
    minCount: number,
    spacing: KeySpacing | undefined,
    keep: (spacing: KeySpacing) => void,
  ) {
    this.#end = end;
    this.#minCount = minCount;
    this.#spacing = spacing;
    this.#keep = keep;
  }

  /** Whether the spacing of the keys is known, so that no part is large. */
  get isDivided(): boolean {
    return this.#spacing !== undefined;
  }

  /** Returns the end of a part that begins at `start` and has about `wanted` keys or more. */
  endAfter(start: string, wanted: number): string {
    if (!this.#spacing) return this.#end;
    const { distance, gap } = this.#spacing;
    const position = positionOf(start);
    const first = position >= gap.from && position < gap.to ? gap.to : position;
    const end = keyAt(first + (distance * BigInt(wanted) * roominess * this.#scale) / 100n);
    return end !== undefined && end > start && end < this.#end ? end : this.#end;
  }

  /** Notes the first entries of a part and how many keys it has. */
  note({ start, end }: Range, read: readonly Pick<Entry, 'key'>[], count: number): void {
    const { isDivided } = this;
    this.#scale = isDivided && count < 2 ? larger(this.#scale) : 1n;
    if (read.length < 2 || (!isDivided && count < this.#minCount)) return;
    const first = positionOf(read[0]!.key);
    // A gap at the end of a part is not between the entries that were read; two of them say little.
    const between = (positionOf(read.at(-1)!.key) - first) / BigInt(read.length - 1);
    const across = (positionOf(end) - first) / BigInt(count);
    const isRead = end >= this.#end || (read.length >= manyRead && between < across);
    const measured = isRead ? between : across;
    const most = this.#spacing ? this.#spacing.distance * maxStretch : measured;
    const distance = measured < most ? measured : most;
    this.#spacing = {
      distance: distance > 0n ? distance : 1n,
      gap: wider({ from: positionOf(start), to: first }, this.#spacing?.gap),
    };
    this.#keep(this.#spacing);
  }
}

/** Returns the factor of the part after one with too few keys. */
function larger(scale: bigint): bigint {
  return scale < maxDoubled ? scale * 2n : scale * scale;
}

/** Returns the wider one of two gaps; the new one if it begins or ends inside the known one. */
function wider(gap: KeySpacing['gap'], known = gap): KeySpacing['gap'] {
  const isWithin = gap.to > known.from && gap.from < known.to;
  return isWithin || gap.to - gap.from > known.to - known.from ? gap : known;
}

/** Returns the first characters of a key as a number, in the order of keys. */
function positionOf(key: string): bigint {
  let position = 0n;
  for (let i = 0; i < positionLength; i += 1) {
    const code = i < key.length ? key.charCodeAt(i) : 0;
    position = position * base + digits[Math.min(code, digits.length - 1)]!;
  }
  return position;
}

/** Returns the key of a position; undefined behind the last one. */
function keyAt(position: bigint): string | undefined {
  let rest = position;
  const characters: string[] = [];
  for (let i = 0; i < positionLength; i += 1) {
    characters.push(alphabet[Number(rest % base)]!);
    rest /= base;
  }
  return rest > 0n ? undefined : characters.reverse().join('').trimEnd();
}
