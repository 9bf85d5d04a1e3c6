import type { SnapshotProgress, SnapshotStats } from '../../../storage/snapshot/layout.js';
import { ProgressLine } from '../terminal/progress-line.js';

/** Shows the progress of a snapshot on standard error. */
export class ProgressBar implements SnapshotProgress {
  readonly signal: AbortSignal;
  readonly #verb: string;
  readonly #total: number | undefined;
  readonly #line = new ProgressLine();

  /** `verb` is the past participle ("saved"); `total` is the number of keys, if known. */
  constructor(verb: string, signal: AbortSignal, total?: number) {
    this.signal = signal;
    this.#verb = verb;
    this.#total = total;
  }

  readonly progress = ({ keys, bytes }: SnapshotStats): void => {
    const of = this.#total === undefined ? '' : ` of ${this.#total}`;
    this.#line.show(() => `${this.#verb} ${keys}${of} keys, ${(bytes / 1e6).toFixed(0)} MB`);
  };

  /** Clears the moving line. */
  end(): void {
    this.#line.end();
  }
}
