import type { WatchCacheEvent } from '../../../registry/watchcache/event.js';
import type { AuthorizedResourceRequest } from '../../http/message.js';

/** The most that waits for one watch. The watches that wait share the bytes of their events. */
const limits = { events: 10_000, bytes: 64 << 20 };

/** An event that waits, and the facts that are loaded for it. */
export interface WaitingEvent {
  readonly event: WatchCacheEvent;
  readonly loading: Promise<AuthorizedResourceRequest> | undefined;
}

/** The events of a watch that wait for facts or for a check of the authority, in order. */
export class WaitingEvents {
  #events: WaitingEvent[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  /** Adds an event. Returns false if too much waits already, but never within a revision. */
  push(event: WatchCacheEvent, loading: Promise<AuthorizedResourceRequest> | undefined): boolean {
    const isFull = this.#events.length >= limits.events || this.#bytes > limits.bytes;
    if (isFull && event.revision !== this.#events.at(-1)?.event.revision) return false;
    loading?.catch(() => {}); // It is awaited in its turn.
    this.#events.push({ event, loading });
    this.#bytes += event.size;
    return true;
  }

  /** Removes and returns all. */
  takeAll(): readonly WaitingEvent[] {
    const waiting = this.#events;
    this.#events = [];
    this.#bytes = 0;
    return waiting;
  }
}
