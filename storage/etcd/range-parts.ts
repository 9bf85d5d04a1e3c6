import type { Entry, Range } from '../storage.js';

/** The number of characters of a key that distances are computed from. */
const positionLength = 48;

/** The size of the alphabet of keys: printable ASCII. */
const base = 95n;
const firstCharacter = 0x20;
const highest = 95 - 1;

/** How many times the keys that are wanted a part should have. */
const roominess = 2n;

/** By how much a part grows after one with too few keys. */
const growth = 16n;

/** The most ranges whose distances are kept. */
const maxKept = 100;

/**
 * Divides large ranges into parts. etcd visits every key of a range to count it, even if a request
 * has a small limit, so that a page of a million keys would cost as much as all of them. The end of
 * a part is estimated from the distance of the keys that were read last.
 */
export class RangeParts {
  readonly #minCount: number;
  /** The distance of neighbouring keys in large ranges, by the end of the range. */
  readonly #distances = new Map<string, bigint>();

  /** Ranges with fewer than `minCount` keys are not divided. */
  constructor(minCount = 10_000) {
    this.#minCount = minCount;
  }

  /** Begins to read a range. */
  reader({ end }: Range): PartReader {
    return new PartReader(end, this.#minCount, this.#distances.get(end), (distance) => {
      if (this.#distances.size >= maxKept) this.#distances.clear();
      this.#distances.set(end, distance);
    });
  }
}

/** The parts of one range, in order. */
class PartReader {
  readonly #end: string;
  readonly #minCount: number;
  readonly #keep: (distance: bigint) => void;
  #distance: bigint | undefined;
  #scale = 1n;

  constructor(
    end: string,
    minCount: number,
    distance: bigint | undefined,
    keep: (distance: bigint) => void,
  ) {
    this.#end = end;
    this.#minCount = minCount;
    this.#distance = distance;
    this.#keep = keep;
  }

  /** Returns the end of a part that begins at `start` and has about `wanted` keys or more. */
  endAfter(start: string, wanted: number): string {
    if (this.#distance === undefined) return this.#end;
    const keys = BigInt(wanted) * roominess * this.#scale;
    const end = keyAt(positionOf(start) + this.#distance * keys);
    return end !== undefined && end > start && end < this.#end ? end : this.#end;
  }

  /** Notes the entries of a response and how many keys its part has. */
  note(read: readonly Pick<Entry, 'key'>[], count: number): void {
    const isDivided = this.#distance !== undefined;
    this.#scale = isDivided && read.length < 2 ? this.#scale * growth : 1n;
    if (read.length < 2 || (!isDivided && count < this.#minCount)) return;
    const span = positionOf(read.at(-1)!.key) - positionOf(read[0]!.key);
    const distance = span / BigInt(read.length - 1);
    this.#distance = distance > 0n ? distance : 1n;
    this.#keep(this.#distance);
  }
}

/** Returns the first characters of a key as a number; those outside the alphabet count as its ends. */
function positionOf(key: string): bigint {
  let position = 0n;
  for (let i = 0; i < positionLength; i += 1) {
    const digit = i < key.length ? key.charCodeAt(i) - firstCharacter : 0;
    position = position * base + BigInt(Math.max(0, Math.min(highest, digit)));
  }
  return position;
}

/** Returns the key of a position; undefined behind the last one. */
function keyAt(position: bigint): string | undefined {
  let rest = position;
  const characters: string[] = [];
  for (let i = 0; i < positionLength; i += 1) {
    characters.push(String.fromCharCode(Number(rest % base) + firstCharacter));
    rest /= base;
  }
  return rest > 0n ? undefined : characters.reverse().join('').trimEnd();
}
