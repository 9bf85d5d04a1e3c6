import type { Revision } from '../../storage/storage.js';
import type { WatchCacheEvent } from './event.js';

const limits = { events: 4096, bytes: 16 << 20 };
/** The largest part that is replayed at once, or one revision if that is larger. */
const replayPart = { events: 100, bytes: 256 << 10 };

interface BufferedEvent {
  readonly resource: string;
  readonly event: WatchCacheEvent;
}

/** A buffer of the newest changes, bounded by number and bytes. */
export class EventBuffer {
  #events: BufferedEvent[] = [];
  #from: Revision = 0;
  #bytes = 0;

  /** The revision after which no event is missing. */
  get from(): Revision {
    return this.#from;
  }

  /** Clears the buffer, which then begins after `from`. */
  restart(from: Revision): void {
    this.#events = [];
    this.#bytes = 0;
    this.#from = from;
  }

  add(resource: string, event: WatchCacheEvent): void {
    this.#events.push({ resource, event });
    this.#bytes += event.size;
    if (this.#events.length <= limits.events && this.#bytes <= limits.bytes) return;
    const dropped = this.#events.splice(0, Math.ceil(this.#events.length / 4));
    for (const entry of dropped) this.#bytes -= entry.event.size;
    this.#from = dropped.at(-1)!.event.revision;
  }

  /**
   * Returns the first part of a resource's events after a revision, always whole revisions; `more`
   * is true if events remain.
   */
  eventsSince(
    resource: string,
    revision: Revision,
  ): { readonly events: readonly WatchCacheEvent[]; readonly more: boolean } {
    const later = this.#events.filter(
      (buffered) => buffered.resource === resource && buffered.event.revision > revision,
    );
    let end = 0;
    let bytes = 0;
    while (
      end < later.length &&
      ((end < replayPart.events && bytes < replayPart.bytes) ||
        later[end]!.event.revision === later[end - 1]!.event.revision)
    ) {
      bytes += later[end]!.event.size;
      end += 1;
    }
    return { events: later.slice(0, end).map(({ event }) => event), more: end < later.length };
  }
}
