import { assert } from './assert.js';

/** What CBOR of an authenticator may hold. */
export type CBOR = number | string | boolean | null | Uint8Array | readonly CBOR[] | CBORMap;
export type CBORMap = ReadonlyMap<number | string, CBOR>;

const deepest = 4;

/**
 * Reads the first item of `bytes` and tells where it ends: CTAP2's form (CTAP 2.1, 8; RFC 8949
 * 4.2.1), at most four levels deep, so that hostile bytes never reach the library's own recursion;
 * else a Fault.
 */
export function readCBOR(bytes: Uint8Array, from = 0): { value: CBOR; end: number } {
  const reader = new Reader(bytes, from);
  const value = reader.item(1);
  return { value, end: reader.at };
}

/** The map that stands at `from`. */
export function readCBORMap(bytes: Uint8Array, from = 0): { value: CBORMap; end: number } {
  const { value, end } = readCBOR(bytes, from);
  assert(value instanceof Map, 'CBOR: not a map');
  return { value, end };
}

const simple = new Map<number, boolean | null>([
  [20, false],
  [21, true],
  [22, null],
]);
const utf8 = new TextDecoder('utf-8', { fatal: true });

class Reader {
  at: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, from: number) {
    this.#bytes = bytes;
    this.at = from;
  }

  item(depth: number): CBOR {
    assert(depth <= deepest, 'CBOR: too deep');
    const head = this.#byte();
    const [type, info] = [head >> 5, head & 31];
    if (type === 7) return this.#simple(info);
    const argument = this.#argument(info);
    switch (type) {
      case 0:
        return argument;
      case 1:
        return -1 - argument;
      case 2:
        return this.#take(argument);
      case 3:
        return this.#text(argument);
      case 4:
        return this.#array(argument, depth);
      case 5:
        return this.#map(argument, depth);
      default:
        return assert(false, 'CBOR: a tag') as never;
    }
  }

  #simple(info: number): boolean | null {
    const value = simple.get(info);
    assert(value !== undefined, 'CBOR: a simple value or a fraction');
    return value;
  }

  /** Lengths and integers in their shortest form, of 32 bits at most. */
  #argument(info: number): number {
    if (info < 24) return info;
    assert(info <= 26, 'CBOR: an indefinite or huge length');
    const size = 1 << (info - 24);
    const value = this.#take(size).reduce((sum, byte) => sum * 256 + byte, 0);
    assert(value >= [24, 0x100, 0x1_0000][info - 24]!, 'CBOR: not the shortest form');
    return value;
  }

  #array(length: number, depth: number): CBOR[] {
    this.#fits(length);
    return Array.from({ length }, () => this.item(depth + 1));
  }

  #map(length: number, depth: number): CBORMap {
    this.#fits(2 * length);
    const map = new Map<number | string, CBOR>();
    for (let i = 0; i < length; i += 1) {
      const key = this.item(depth + 1);
      assert(
        (typeof key === 'number' || typeof key === 'string') && !map.has(key),
        'CBOR: a key of another kind or there twice',
      );
      map.set(key, this.item(depth + 1));
    }
    return map;
  }

  #text(length: number): string {
    const bytes = this.#take(length);
    try {
      return utf8.decode(bytes);
    } catch {
      return assert(false, 'CBOR: not UTF-8') as never;
    }
  }

  #fits(length: number): void {
    assert(this.at + length <= this.#bytes.length, 'CBOR: cut off');
  }

  #take(length: number): Uint8Array {
    this.#fits(length);
    return this.#bytes.subarray(this.at, (this.at += length));
  }

  #byte(): number {
    return this.#take(1)[0]!;
  }
}
