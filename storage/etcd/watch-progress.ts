import type { EtcdWatchStream } from './watch-stream.js';

const quiet = 1000;
const unconfirmed = 500;
const silence = 3000;
const look = 100;
const soon = 1;
const soonMarked = 30;

/**
 * What a quorum said: nothing that was written before `asked` (performance.now()) is beyond this
 * revision.
 */
interface Said {
  readonly revision: number;
  readonly asked: number;
}

/** What the progress of a watch is found out by. */
interface Means {
  /**
   * Writes an event that this stream is told; given where etcd's answers may overtake events and
   * are therefore not believed.
   */
  readonly mark?: (() => void) | undefined;
  /** Has a quorum say how far etcd is, which `seen` is told; resolves when that is over. */
  confirm(): Promise<unknown>;
  /** Called when nothing has shown for too long that the stream is as far as etcd. */
  lost(): void;
}

/**
 * Finds out how far a watch stream is, and whether it still lives. All revisions are etcd's own.
 *
 * That a member answers proves nothing: one that is cut off from the others goes on answering for
 * seconds, with what it knew. So the stream is as new as the last word of a quorum that it has
 * reached, and of that the moment counts when it was asked for: `asOf`. Each call of this replica
 * to etcd brings such a word; where none came for half a second, one is asked for. A stream whose
 * `asOf` does not move for three seconds, and which brings nothing new either, is given up.
 */
export class WatchProgress {
  readonly #stream: EtcdWatchStream;
  readonly #means: Means;
  readonly #timer: NodeJS.Timeout;
  readonly #said: Said[] = [];
  #position: number;
  #asOf = -Infinity;
  #told = performance.now();
  #moved = performance.now();
  #heard = performance.now();
  #wanted = 0;
  #confirming = false;
  #soon: NodeJS.Timeout | undefined;

  /** `position`: everything up to there has been told before. */
  constructor(
    stream: EtcdWatchStream,
    { position, latest }: { readonly position: number; readonly latest: Said },
    means: Means,
  ) {
    this.#stream = stream;
    this.#means = means;
    this.#position = position;
    this.#hold(latest);
    this.#timer = setInterval(() => {
      this.#look();
    }, look);
  }

  /**
   * By performance.now(): whatever was written before then, this stream has brought. Anyone who asks
   * is about to tell it.
   */
  asOf(): number {
    this.#told = this.#asOf;
    return this.#told;
  }

  /**
   * A quorum has said how far etcd is; where that is further than this stream, it is found out soon
   * whether it comes there.
   */
  seen(revision: number, asked: number): void {
    this.#hold({ revision, asked });
    if (this.#wanted === 0) return;
    this.#soon ??= setTimeout(
      () => {
        this.#soon = undefined;
        if (this.#wanted > 0) this.#seek();
      },
      this.#means.mark ? soonMarked : soon,
    );
  }

  /** Every event up to this revision has arrived. */
  events(revision: number): void {
    this.#heard = performance.now();
    this.#reach(revision);
  }

  /**
   * An answer has arrived: the revision up to which nothing is missing, where etcd can be believed.
   */
  answer(revision: number): number | undefined {
    this.#heard = performance.now();
    if (this.#means.mark) return undefined;
    this.#reach(revision);
    return revision;
  }

  /** Stops asking. */
  stop(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
  }

  /**
   * Of what is still to be reached, the oldest word and the newest are kept: while words come
   * faster than events, the oldest is reached all the same.
   */
  #hold(said: Said): void {
    if (said.revision <= this.#position) this.#asOf = Math.max(this.#asOf, said.asked);
    else {
      this.#wanted = Math.max(this.#wanted, said.revision);
      this.#said[Math.min(1, this.#said.length)] = said;
    }
  }

  #reach(revision: number): void {
    if (revision > this.#position) {
      this.#position = revision;
      this.#moved = performance.now();
    }
    if (this.#position >= this.#wanted) this.#wanted = 0;
    for (const said of this.#said.splice(0)) this.#hold(said);
  }

  #look(): void {
    const now = performance.now();
    if (now - Math.max(this.#asOf, this.#moved) > silence) this.#means.lost();
    else if (this.#wanted > 0) this.#seek();
    if (now - this.#told >= unconfirmed) this.#confirm(now);
    if (now - this.#heard >= quiet) this.#ask();
  }

  /**
   * Has a quorum asked where its last word is too old, then the member for an answer, with which
   * anyone who reads the stream is told.
   */
  #confirm(now: number): void {
    if (this.#confirming) return;
    if (now - this.#asOf < unconfirmed) return this.#ask();
    this.#confirming = true;
    void this.#means.confirm().then(() => {
      this.#confirming = false;
      this.#ask();
    });
  }

  #seek(): void {
    if (this.#means.mark) this.#means.mark();
    else this.#ask();
  }

  #ask(): void {
    if (this.#stream.writable) this.#stream.write({ progress_request: {} });
  }
}
