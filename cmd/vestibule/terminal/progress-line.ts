const terminalIntervalMs = 250;
const logIntervalMs = 10_000;

/** One moving line on standard error of a terminal, otherwise a line every ten seconds. */
export class ProgressLine {
  readonly isTerminal = process.stderr.isTTY;
  #lastWriteAt = performance.now();
  #width = 0;

  /** Shows the text of `render`, unless the last one is too recent. */
  show(render: () => string): void {
    const intervalMs = this.isTerminal ? terminalIntervalMs : logIntervalMs;
    if (performance.now() - this.#lastWriteAt < intervalMs) return;
    this.#lastWriteAt = performance.now();
    const text = render();
    process.stderr.write(this.isTerminal ? `\r${text.padEnd(this.#width)}` : `${text}\n`);
    this.#width = text.length;
  }

  /** Clears the moving line. */
  end(): void {
    if (this.#width > 0 && this.isTerminal) process.stderr.write(`\r${' '.repeat(this.#width)}\r`);
  }
}
