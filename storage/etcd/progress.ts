import type { WatchStream } from './stream.js';

const quiet = 1000;
const silence = 4000;
const look = 100;
const settling = 300;

/** Asks a watch stream how far it is, and judges how far the answer may be believed. */
export class Progress {
  readonly #stream: WatchStream;
  readonly #ordered: boolean;
  readonly #timer: NodeJS.Timeout;
  readonly #started = Date.now();
  #heard = Date.now();
  #candidate: number | undefined;
  #wanted = 1;
  #caughtUp = false;
  #soon: NodeJS.Timeout | undefined;

  /** `ordered`: this etcd never lets an answer overtake events. `lost` is called when the stream has been silent for too long. */
  constructor(stream: WatchStream, ordered: boolean, lost: () => void) {
    this.#stream = stream;
    this.#ordered = ordered;
    this.#timer = setInterval(() => {
      const silent = Date.now() - this.#heard;
      if (silent > silence) lost();
      else if (silent >= quiet || this.#wanted > 0) this.#ask();
    }, look);
  }

  /** Asks soon, because this revision was seen elsewhere. */
  want(revision: number): void {
    this.#wanted = revision;
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      if (this.#wanted > 0) this.#ask();
    }, 1);
  }

  /** Events have arrived up to this revision. */
  events(revision: number): void {
    this.#heard = Date.now();
    this.#candidate = undefined;
    if (this.#caughtUp && revision >= this.#wanted) this.#wanted = 0;
  }

  /** An answer has arrived: the revision up to which nothing is missing, once that is certain. */
  answer(revision: number): number | undefined {
    this.#heard = Date.now();
    return this.#ordered ? this.#certain(revision) : this.#confirmed(revision);
  }

  /** Stops asking. */
  stop(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
  }

  /** An answer that may overtake events counts when the next one comes without events in between, and not before old events had time to come. */
  #confirmed(revision: number): number | undefined {
    const early = !this.#caughtUp && Date.now() - this.#started < settling;
    const certain = this.#candidate;
    this.#candidate = early ? undefined : revision;
    const reached = certain === undefined ? undefined : this.#certain(certain);
    if (!early && (reached === undefined || this.#wanted > 0)) this.#ask();
    return reached;
  }

  #certain(revision: number): number {
    this.#caughtUp = true;
    if (revision >= this.#wanted) this.#wanted = 0;
    return revision;
  }

  #ask(): void {
    if (this.#stream.writable) this.#stream.write({ progress_request: {} });
  }
}
