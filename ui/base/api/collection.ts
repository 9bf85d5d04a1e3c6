import { useEffect, useState } from 'preact/hooks';
import type { ObjectMeta, WatchEvent } from '../../api.js';
import { call, type ApiError } from './api.js';
import { listAndWatch, type WatchedList } from './list-watch.js';

/** Objects per page of a list. */
const pageSize = 500;

interface ApiObject {
  metadata: ObjectMeta;
}
interface List<T> {
  metadata: { resourceVersion: string; continue?: string };
  items: T[];
}

/** The objects of a list that were read, and the resourceVersion that all pages share. */
export interface ReadObjects<T> {
  readonly items: readonly T[];
  readonly version: string;
  /** There are more pages than were to be read. */
  readonly hasMore: boolean;
}

const queryString = (query: Readonly<Record<string, string>>): string =>
  new URLSearchParams(query).toString();

/** Reads the pages of a list, all of them or at most `maxPages`; `query` may have another `limit`. */
export async function readAll<T>(
  path: string,
  query: Readonly<Record<string, string>> = {},
  maxPages = Infinity,
): Promise<ReadObjects<T>> {
  const items: T[] = [];
  let more: Record<string, string> = {};
  for (let page = 1; ; page += 1) {
    const list = await call<List<T>>(
      'GET',
      `${path}?${queryString({ limit: String(pageSize), ...query, ...more })}`,
    );
    items.push(...list.items);
    const { resourceVersion: version, continue: next } = list.metadata;
    if (!next || page >= maxPages) return { items, version, hasMore: Boolean(next) };
    more = { continue: next };
  }
}

/** The objects of a collection by name. `onDelete` receives the last version of a deleted object. */
class ObjectList<T extends ApiObject> implements WatchedList<T> {
  readonly #objects = new Map<string, T>();
  readonly #onDelete: (item: T) => void;
  readonly #read: () => Promise<ReadObjects<T>>;
  readonly address: WatchedList<T>['address'];
  version: string | undefined;
  items: readonly T[] | undefined;

  constructor(path: string, query: Record<string, string>, onDelete: (item: T) => void) {
    this.address = (more) => `${path}?${queryString({ ...query, ...more })}`;
    this.#read = () => readAll<T>(path, query);
    this.#onDelete = onDelete;
  }

  async list(): Promise<void> {
    const { items, version } = await this.#read();
    this.#objects.clear();
    for (const item of items) this.#objects.set(item.metadata.name, item);
    this.version = version;
    this.items = items;
  }

  apply({ type, object }: WatchEvent<T>): void {
    const { name, resourceVersion } = object.metadata;
    this.version = resourceVersion;
    if (type === 'BOOKMARK') return;
    if (type === 'DELETED') {
      this.#objects.delete(name);
      this.#onDelete(object);
    } else {
      this.#objects.set(name, object);
    }
    this.items = [...this.#objects.values()];
  }
}

/** A collection that a page shows, and the changes the page may make to it. */
export interface LiveCollection<T> {
  /** The objects that are known, and the error of the last read. */
  readonly items?: readonly T[];
  readonly failure?: ApiError | undefined;
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
  const [now, set] = useState<Pick<LiveCollection<T>, 'items' | 'failure'>>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === undefined || !live) return undefined;
    const stop = new AbortController();
    const list = new ObjectList<T>(path, query, gone);
    void listAndWatch(list, (failure) => set({ items: list.items, failure }), stop.signal);
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
          ? items.map((former) => (former.metadata.name === item.metadata.name ? item : former))
          : [...items, item],
      ),
    replaceIfNewer: (item) =>
      change((items) =>
        items.map((kept) =>
          kept.metadata.name === item.metadata.name &&
          Number(kept.metadata.resourceVersion) <= Number(item.metadata.resourceVersion)
            ? item
            : kept,
        ),
      ),
    remove: (name) => change((items) => items.filter(({ metadata }) => metadata.name !== name)),
  };
}
