import type { Tally, SnapshotProgress } from '../../../storage/snapshot/layout.js';

const often = 250;
const rarely = 10_000;

/**
 * Shows the progress of long work on standard error: one moving line on a terminal, otherwise a
 * line every ten seconds.
 */
export class ProgressBar implements SnapshotProgress {
  readonly signal: AbortSignal;
  readonly #done: string;
  readonly #of: number | undefined;
  readonly #moving = process.stderr.isTTY;
  #said = performance.now();
  #width = 0;

  /** `verb` is the past participle ("saved"); `total` is the number of keys, if known. */
  constructor(done: string, signal: AbortSignal, of?: number) {
    this.signal = signal;
    this.#done = done;
    this.#of = of;
  }

  readonly progress = ({ keys, bytes }: Tally): void => {
    if (performance.now() - this.#said < (this.#moving ? often : rarely)) return;
    this.#said = performance.now();
    const text = `${this.#done} ${keys}${this.#of === undefined ? '' : ` of ${this.#of}`} keys, ${(bytes / 1e6).toFixed(0)} MB`;
    process.stderr.write(this.#moving ? `\r${text.padEnd(this.#width)}` : `${text}\n`);
    this.#width = text.length;
  };

  /** Clears the moving line. */
  end(): void {
    if (this.#width > 0 && this.#moving) process.stderr.write(`\r${' '.repeat(this.#width)}\r`);
  }
}
