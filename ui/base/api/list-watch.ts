import type { WatchEvent } from '../../api.js';
import { ApiError } from './api.js';
import { delay, untilReturn, watchEvents } from './watch.js';

/** A list of the API, and the events of a watch over it. */
export interface WatchedList<T> {
  /** Where the next watch begins; undefined if the list must be read first. */
  version: string | undefined;
  /** The representation that is requested, if it is not that of objects. */
  readonly accept?: string;
  /** Returns the address of the list with further parameters. */
  readonly address: (more: Record<string, string>) => string;
  /** Reads the list and sets `version`. */
  list(): Promise<void>;
  /** Applies an event, of a bookmark only its version. */
  apply(event: WatchEvent<T>): void;
}

/** Reads a list unless it is known, then applies the events of one watch until that ends. */
async function listAndWatchOnce<T>(
  list: WatchedList<T>,
  show: () => void,
  signal: AbortSignal,
): Promise<void> {
  if (list.version === undefined) {
    await list.list();
    show();
  }
  const { version: resourceVersion = '' } = list;
  const address = list.address({ watch: 'true', allowWatchBookmarks: 'true', resourceVersion });
  for await (const event of watchEvents<T>(address, signal, list.accept)) {
    if (event.type === 'ERROR') throw new ApiError(410);
    list.apply(event);
    if (event.type !== 'BOOKMARK') show();
  }
}

/**
 * Lists and keeps the list up to date with a watch until the signal aborts. Applies each event
 * instead of listing again, because reading may itself cause an event. After a failure lists again
 * when the person returns to the page. `show` is called after each change, and with the error if the
 * list cannot be read.
 */
export async function listAndWatch<T>(
  list: WatchedList<T>,
  show: (failure?: ApiError) => void,
  signal: AbortSignal,
): Promise<void> {
  const showUnlessStopped = (): void => {
    if (!signal.aborted) show();
  };
  while (!signal.aborted) {
    try {
      await listAndWatchOnce(list, showUnlessStopped, signal);
      await delay(1_000);
    } catch (thrown) {
      if (signal.aborted) return;
      const wasListed = list.version !== undefined;
      const failure = thrown instanceof ApiError ? thrown : undefined;
      if (!failure && !wasListed) throw thrown;
      list.version = undefined;
      if (failure && (!wasListed || failure.code === 401)) show(failure);
      // a watch cannot begin at a revision that the service has compacted
      await (wasListed && failure?.code === 410 ? delay(1_000) : untilReturn(signal));
    }
  }
}
