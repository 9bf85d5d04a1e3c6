/**
 * Counts by the one thing that tells them apart; kept by whoever does what is counted, read by
 * whoever looks. What is known beforehand begins at 0.
 */
export class Counter<L extends string = string> {
  readonly #counts = new Map<L, number>();

  constructor(known: readonly L[] = []) {
    for (const one of known) this.#counts.set(one, 0);
  }

  add(what: L): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }
  of(what: L): number {
    return this.#counts.get(what) ?? 0;
  }
  entries(): IterableIterator<[L, number]> {
    return this.#counts.entries();
  }
}

/**
 * How many of the values seen were at most each of some bounds; `counts` has one for each bound, of
 * those values alone that no smaller one took, and one for what is beyond.
 */
export class Histogram {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;

  /** `bounds` go up. */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let at = 0;
    while (at < this.bounds.length && value > this.bounds[at]!) at += 1;
    this.counts[at]! += 1;
    this.sum += value;
  }
}
