import type { Cedar } from './cedar.js';
import type { Slice } from './slice.js';

/** Rules that may be held prepared: Cedar never frees a name, only what it stood for. */
const most = 20_000;

/** Slices as Cedar holds them, each under a name of a pool that is used again; the longest unused make way. */
export class Prepared {
  readonly #cedar: Cedar;
  readonly #prefix: string;
  readonly #held = new Map<string, { name: string; rules: number }>();
  readonly #free: string[] = [];
  #names = 0;
  #rules = 0;

  constructor(cedar: Cedar, prefix: string) {
    this.#cedar = cedar;
    this.#prefix = prefix;
  }

  /** The name a slice is prepared under; prepares it where it is not. */
  nameOf(slice: Slice): string {
    const found = this.#held.get(slice.digest);
    if (found) {
      this.#held.delete(slice.digest);
      this.#held.set(slice.digest, found);
      return found.name;
    }
    for (const [digest, { name, rules }] of this.#held) {
      if (this.#rules + slice.size <= most) break;
      this.#put(name, {});
      this.#forget(digest, name, rules);
    }
    const name = this.#free.pop() ?? `${this.#prefix}${this.#names++}`;
    this.#put(name, slice.rules);
    this.#held.set(slice.digest, { name, rules: slice.size });
    this.#rules += slice.size;
    return name;
  }

  /** Every name may be used for something else. */
  clear(): void {
    for (const [digest, { name, rules }] of this.#held) this.#forget(digest, name, rules);
  }

  #forget(digest: string, name: string, rules: number): void {
    this.#held.delete(digest);
    this.#free.push(name);
    this.#rules -= rules;
  }

  #put(name: string, rules: Slice['rules']): void {
    const answer = this.#cedar.preparsePolicySet(name, { staticPolicies: rules });
    if (answer.type === 'failure') throw new Error(`a slice cannot be prepared: ${answer.errors[0]?.message}`);
  }
}
