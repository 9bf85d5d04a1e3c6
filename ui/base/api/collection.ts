import { useEffect, useState } from 'preact/hooks';
import type { ObjectMeta, WatchEvent } from '../../api.js';
import { call, ApiError, send } from './api.js';
import { readLines, delay, untilReturn } from './watch.js';

/** Objects per page of a list. */
const pageSize = 500;

interface ApiObject {
  metadata: ObjectMeta;
}
interface List<T> {
  metadata: { resourceVersion: string; continue?: string };
  items: T[];
}

/** The objects of a collection that are known, and the error of the last read. */
export interface Collection<T> {
  readonly items?: readonly T[];
  readonly failure?: ApiError | undefined;
}

const queryString = (query: Record<string, string>): string =>
  new URLSearchParams(query).toString();

/**
 * Reads all pages of a list into a map by name. Returns the map and the resourceVersion that all
 * pages share.
 */
export async function readAll<T extends ApiObject>(
  path: string,
  query: Record<string, string> = {},
): Promise<{ objects: Map<string, T>; version: string }> {
  const objects = new Map<string, T>();
  for (let more: Record<string, string> = {}; ; ) {
    const { metadata, items } = await call<List<T>>(
      'GET',
      `${path}?${queryString({ ...query, limit: String(pageSize), ...more })}`,
    );
    for (const item of items) objects.set(item.metadata.name, item);
    if (!metadata.continue) return { objects, version: metadata.resourceVersion };
    more = { continue: metadata.continue };
  }
}

/**
 * Callbacks for the events of a watch. `onDelete` receives the last version of a deleted object.
 */
interface EventHandlers<T> {
  readonly onChange: () => void;
  readonly onDelete: (item: T) => void;
}

/**
 * Applies the events of one watch to the map. Returns the resourceVersion to continue from, or
 * undefined if the list must be read again. Throws an ApiError if the watch cannot be opened.
 */
async function applyWatchEvents<T extends ApiObject>(
  address: string,
  from: string,
  objects: Map<string, T>,
  { onChange: changed, onDelete: gone }: EventHandlers<T>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const response = await send(
    'GET',
    `${address}&watch=true&allowWatchBookmarks=1&resourceVersion=${from}`,
    undefined,
    signal,
  );
  if (response.status === 410) return undefined;
  if (!response.ok || !response.body) throw new ApiError(response.status);
  let version = from;
  for await (const line of readLines(response.body)) {
    const { type, object } = JSON.parse(line) as WatchEvent<T>;
    if (type === 'ERROR') return undefined;
    version = object.metadata.resourceVersion;
    if (type === 'BOOKMARK') continue;
    if (type === 'DELETED') {
      objects.delete(object.metadata.name);
      gone(object);
    } else objects.set(object.metadata.name, object);
    changed();
  }
  return version;
}

const paused = async (version: string | undefined): Promise<string | undefined> => {
  await delay(1_000);
  return version;
};

/**
 * Lists a collection and keeps it up to date with a watch. Applies each event instead of listing
 * again, because reading may itself cause an event. Reports an error and tries again when the
 * person returns to the page. Stops when the signal aborts.
 */
async function listAndWatch<T extends ApiObject>(
  path: string,
  query: Record<string, string>,
  changed: (now: Collection<T>) => void,
  gone: (item: T) => void,
  signal: AbortSignal,
): Promise<void> {
  let items: T[] | undefined;
  while (!signal.aborted) {
    try {
      const { objects: held, version } = await readAll<T>(path, query);
      const show = (): void => {
        items = [...held.values()];
        if (!signal.aborted) changed({ items });
      };
      show();
      for (let from: string | undefined = version; from !== undefined && !signal.aborted; ) {
        from = await applyWatchEvents(
          `${path}?${queryString(query)}`,
          from,
          held,
          { onChange: show, onDelete: gone },
          signal,
        ).then(paused, async (thrown: unknown) => {
          if (thrown instanceof ApiError && thrown.code === 401) throw thrown;
          await untilReturn(signal);
          return undefined;
        });
      }
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      if (!signal.aborted) changed({ ...(items && { items }), failure: thrown });
      await untilReturn(signal);
    }
  }
}

/** A collection that a page shows, and the changes the page may make to it. */
export interface LiveCollection<T> extends Collection<T> {
  /** Lists the collection again. */
  reload: () => void;
  /** Inserts or replaces an object from a response, before the watch delivers it. */
  upsert: (item: T) => void;
  /** Replaces an object with one from a response unless the watch delivered a newer version. */
  replaceIfNewer: (item: T) => void;
  /** Removes a deleted object before the watch reports it. */
  remove: (name: string) => void;
}

/**
 * A collection of the API, kept up to date by a watch. Requests nothing while `path` is undefined.
 * While `live` is false the items stay as they are; the collection is listed again afterwards.
 * `gone` receives the last version of each object deleted during the watch.
 */
export function useCollection<T extends ApiObject>(
  path: string | undefined,
  query: Record<string, string> = {},
  live = true,
  gone: (item: T) => void = () => {},
): LiveCollection<T> {
  const [now, set] = useState<Collection<T>>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === undefined || !live) return undefined;
    const stop = new AbortController();
    void listAndWatch<T>(path, query, set, gone, stop.signal);
    return () => stop.abort();
  }, [path, queryString(query), turn, live]);
  const change = (work: (items: readonly T[]) => readonly T[]): void =>
    set((known) => ({ ...known, ...(known.items && { items: work(known.items) }) }));
  return {
    ...now,
    reload: () => setTurn((count) => count + 1),
    upsert: (item) =>
      change((items) =>
        items.some(({ metadata }) => metadata.name === item.metadata.name)
          ? items.map((one) => (one.metadata.name === item.metadata.name ? item : one))
          : [...items, item],
      ),
    replaceIfNewer: (item) =>
      change((items) =>
        items.map((one) =>
          one.metadata.name === item.metadata.name &&
          Number(one.metadata.resourceVersion) <= Number(item.metadata.resourceVersion)
            ? item
            : one,
        ),
      ),
    remove: (name) => change((items) => items.filter(({ metadata }) => metadata.name !== name)),
  };
}
