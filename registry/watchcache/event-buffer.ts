import type { Revision } from '../../storage/storage.js';
import type { WatchCacheEvent } from './event.js';

const max = { events: 4096, bytes: 16 << 20 };
/** So much of the past is told at a time, or one revision where that is more. */
const part = { events: 100, bytes: 256 << 10 };

interface Held {
  readonly resource: string;
  readonly event: WatchCacheEvent;
}

/**
 * What a replica remembers of what happened: the newest changes, within bounds of number and bytes.
 */
export class EventBuffer {
  #held: Held[] = [];
  #from: Revision = 0;
  #bytes = 0;

  /** Nothing behind this revision is missing. */
  get from(): Revision {
    return this.#from;
  }

  /** Forgets everything: what is remembered begins behind `from`. */
  restart(from: Revision): void {
    this.#held = [];
    this.#bytes = 0;
    this.#from = from;
  }

  add(resource: string, event: WatchCacheEvent): void {
    this.#held.push({ resource, event });
    this.#bytes += event.size;
    if (this.#held.length <= max.events && this.#bytes <= max.bytes) return;
    const dropped = this.#held.splice(0, Math.ceil(this.#held.length / 4));
    for (const one of dropped) this.#bytes -= one.event.size;
    this.#from = dropped.at(-1)!.event.revision;
  }

  /**
   * What happened to a resource behind a revision, or the first part of it, up to the end of a
   * revision; `more` where that is not all.
   */
  eventsSince(
    resource: string,
    revision: Revision,
  ): { readonly events: readonly WatchCacheEvent[]; readonly more: boolean } {
    const all = this.#held.filter(
      (held) => held.resource === resource && held.event.revision > revision,
    );
    let end = 0;
    let bytes = 0;
    while (
      end < all.length &&
      ((end < part.events && bytes < part.bytes) ||
        all[end]!.event.revision === all[end - 1]!.event.revision)
    ) {
      bytes += all[end]!.event.size;
      end += 1;
    }
    return { events: all.slice(0, end).map(({ event }) => event), more: end < all.length };
  }
}
