import type { WatchStream } from './stream.js';

const quiet = 1000;
const silence = 4000;
const look = 100;
const soon = 1;
const soonMarked = 30;

/** Finds out how far a watch stream is, and whether it still lives. All revisions are etcd's own. */
export class Progress {
  readonly #stream: WatchStream;
  readonly #mark: (() => void) | undefined;
  readonly #timer: NodeJS.Timeout;
  #heard = Date.now();
  #wanted: number;
  #soon: NodeJS.Timeout | undefined;

  /**
   * `wanted`: what has to be reached before the stream has caught up, 0 for nothing. `mark`: writes an event that this stream is
   * told; given where etcd's answers may overtake events and are therefore not believed. `lost` is called when the stream has
   * been silent for too long.
   */
  constructor(stream: WatchStream, wanted: number, mark: (() => void) | undefined, lost: () => void) {
    this.#stream = stream;
    this.#wanted = wanted;
    this.#mark = mark;
    this.#timer = setInterval(() => {
      const silent = Date.now() - this.#heard;
      if (silent > silence) lost();
      else if (this.#wanted > 0) this.#seek();
      if (silent >= quiet) this.#ask();
    }, look);
  }

  /** Finds out soon, because this revision was seen elsewhere. */
  want(revision: number): void {
    this.#wanted = revision;
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      if (this.#wanted > 0) this.#seek();
    }, this.#mark ? soonMarked : soon);
  }

  /** Every event up to this revision has arrived. */
  events(revision: number): void {
    this.#heard = Date.now();
    if (revision >= this.#wanted) this.#wanted = 0;
  }

  /** An answer has arrived: the revision up to which nothing is missing, where etcd can be believed. */
  answer(revision: number): number | undefined {
    this.#heard = Date.now();
    if (this.#mark) return undefined;
    this.events(revision);
    return revision;
  }

  /** Stops asking. */
  stop(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
  }

  #seek(): void {
    if (this.#mark) this.#mark();
    else this.#ask();
  }

  #ask(): void {
    if (this.#stream.writable) this.#stream.write({ progress_request: {} });
  }
}
