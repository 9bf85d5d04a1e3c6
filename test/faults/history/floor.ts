/** The newest revision that any answer named before a time. */
export class Floor {
  readonly #ends: { readonly end: number; readonly revision: number }[] = [];

  /** `answers`: when each answer came, and the revision it named. */
  constructor(answers: readonly { readonly end: number; readonly revision: number }[]) {
    let revision = 0;
    for (const answer of [...answers].sort((a, b) => a.end - b.end)) {
      this.#ends.push({
        end: answer.end,
        revision: (revision = Math.max(revision, answer.revision)),
      });
    }
  }

  /** The newest revision among the answers that came before `time`. */
  before(time: number): number {
    let [low, high] = [0, this.#ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#ends[middle]!.end < time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return this.#ends[low - 1]?.revision ?? 0;
  }
}
