import type { SnapshotStats, SnapshotProgress } from '../../../storage/snapshot/layout.js';

const terminalIntervalMs = 250;
const logIntervalMs = 10_000;

/**
 * Shows the progress of long work on standard error: one moving line on a terminal, otherwise a
 * line every ten seconds.
 */
export class ProgressBar implements SnapshotProgress {
  readonly signal: AbortSignal;
  readonly #verb: string;
  readonly #total: number | undefined;
  readonly #isTerminal = process.stderr.isTTY;
  #lastWriteAt = performance.now();
  #width = 0;

  /** `verb` is the past participle ("saved"); `total` is the number of keys, if known. */
  constructor(verb: string, signal: AbortSignal, total?: number) {
    this.signal = signal;
    this.#verb = verb;
    this.#total = total;
  }

  readonly progress = ({ keys, bytes }: SnapshotStats): void => {
    if (
      performance.now() - this.#lastWriteAt <
      (this.#isTerminal ? terminalIntervalMs : logIntervalMs)
    )
      return;
    this.#lastWriteAt = performance.now();
    const text = `${this.#verb} ${keys}${this.#total === undefined ? '' : ` of ${this.#total}`} keys, ${(bytes / 1e6).toFixed(0)} MB`;
    process.stderr.write(this.#isTerminal ? `\r${text.padEnd(this.#width)}` : `${text}\n`);
    this.#width = text.length;
  };

  /** Clears the moving line. */
  end(): void {
    if (this.#width > 0 && this.#isTerminal) process.stderr.write(`\r${' '.repeat(this.#width)}\r`);
  }
}
