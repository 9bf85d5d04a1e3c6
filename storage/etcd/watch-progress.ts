import type { EtcdWatchStream } from './watch-stream.js';

const progressIntervalMs = 1000;
const stalledAfterMs = 3000;
const checkIntervalMs = 100;
const seekDelayMs = 1;
const progressKeyDelayMs = 30;

/**
 * A revision read from a quorum: it includes everything written before `requestedAt`
 * (performance.now()).
 */
interface QuorumRevision {
  readonly revision: number;
  readonly requestedAt: number;
}

/** Operations that the progress of a watch needs. */
interface ProgressOperations {
  /**
   * Writes an event that this stream receives. Set for versions of etcd whose progress responses
   * may overtake events and are not used.
   */
  readonly writeProgressKey?: (() => void) | undefined;
  /** Reads the current revision from a quorum, which `onRevision` receives; resolves when done. */
  readRevision(): Promise<unknown>;
  /** Called when the stream has not been confirmed to be current for too long. */
  onStalled(): void;
}

/**
 * Tracks how far a watch stream is, and whether it is alive. All revisions are etcd's own.
 *
 * A response from a member proves nothing: a partitioned member keeps responding for seconds with
 * old state. Therefore the stream is as current as the last quorum revision that it has reached,
 * and `asOf` is the time of that request. Each call of this replica to etcd returns such a
 * revision; without one for so long, the tracker requests one. A stream whose `asOf` does not
 * advance for three seconds, and which delivers no events either, is given up.
 */
export class WatchProgress {
  readonly #stream: EtcdWatchStream;
  readonly #maxStalenessMs: number;
  readonly #operations: ProgressOperations;
  readonly #timer: NodeJS.Timeout;
  readonly #pending: QuorumRevision[] = [];
  #position: number;
  #asOf = -Infinity;
  #reportedAsOf = performance.now();
  #advancedAt = performance.now();
  #receivedAt = performance.now();
  #target = 0;
  #isConfirming = false;
  #seekTimer: NodeJS.Timeout | undefined;

  /**
   * `position`: everything up to this revision was already delivered. A quorum revision is requested
   * when the last one is older than `maxStalenessMs`.
   */
  constructor(
    stream: EtcdWatchStream,
    { position, latest }: { readonly position: number; readonly latest: QuorumRevision },
    maxStalenessMs: number,
    operations: ProgressOperations,
  ) {
    this.#stream = stream;
    this.#maxStalenessMs = maxStalenessMs;
    this.#operations = operations;
    this.#position = position;
    this.#track(latest);
    this.#timer = setInterval(() => {
      this.#check();
    }, checkIntervalMs);
  }

  /**
   * Returns a time (performance.now()): this stream has delivered everything written before it. The
   * caller reports it to the reader of the stream.
   */
  asOf(): number {
    this.#reportedAsOf = this.#asOf;
    return this.#reportedAsOf;
  }

  /** Receives a quorum revision. If it is beyond this stream, progress is requested soon. */
  onRevision(revision: number, requestedAt: number): void {
    this.#track({ revision, requestedAt });
    if (this.#target === 0) return;
    this.#seekTimer ??= setTimeout(
      () => {
        this.#seekTimer = undefined;
        if (this.#target > 0) this.#requestTarget();
      },
      this.#operations.writeProgressKey ? progressKeyDelayMs : seekDelayMs,
    );
  }

  /** Every event up to this revision has arrived. */
  onEvents(revision: number): void {
    this.#receivedAt = performance.now();
    this.#advance(revision);
  }

  /**
   * A progress response has arrived. Returns the revision up to which nothing is missing, or
   * undefined if responses of this etcd cannot be used.
   */
  onProgressResponse(revision: number): number | undefined {
    this.#receivedAt = performance.now();
    if (this.#operations.writeProgressKey) return undefined;
    this.#advance(revision);
    return revision;
  }

  /** Stops all timers. */
  stop(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#seekTimer);
  }

  /**
   * Keeps the oldest and the newest pending revision, so the oldest is reached even if new ones
   * arrive faster than events.
   */
  #track(quorumRevision: QuorumRevision): void {
    if (quorumRevision.revision <= this.#position) {
      this.#asOf = Math.max(this.#asOf, quorumRevision.requestedAt);
    } else {
      this.#target = Math.max(this.#target, quorumRevision.revision);
      this.#pending[Math.min(1, this.#pending.length)] = quorumRevision;
    }
  }

  #advance(revision: number): void {
    if (revision > this.#position) {
      this.#position = revision;
      this.#advancedAt = performance.now();
    }
    if (this.#position >= this.#target) this.#target = 0;
    for (const quorumRevision of this.#pending.splice(0)) this.#track(quorumRevision);
  }

  #check(): void {
    const now = performance.now();
    if (now - Math.max(this.#asOf, this.#advancedAt) > stalledAfterMs) {
      this.#operations.onStalled();
    } else if (this.#target > 0) {
      this.#requestTarget();
    }
    if (now - this.#reportedAsOf >= this.#maxStalenessMs) this.#confirm(now);
    if (now - this.#receivedAt >= progressIntervalMs) this.#requestProgress();
  }

  /**
   * Requests a quorum revision if the last one is too old, then a progress response, which is
   * reported to the reader of the stream.
   */
  #confirm(now: number): void {
    if (this.#isConfirming) return;
    if (now - this.#asOf < this.#maxStalenessMs) return this.#requestProgress();
    this.#isConfirming = true;
    void this.#operations.readRevision().then(() => {
      this.#isConfirming = false;
      this.#requestProgress();
    });
  }

  #requestTarget(): void {
    if (this.#operations.writeProgressKey) {
      this.#operations.writeProgressKey();
    } else {
      this.#requestProgress();
    }
  }

  #requestProgress(): void {
    if (this.#stream.writable) this.#stream.write({ progress_request: {} });
  }
}
