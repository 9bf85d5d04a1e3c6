import { useEffect, useState } from 'preact/hooks';
import type { ObjectMeta, WatchEvent } from '../api.js';
import { call, ApiError, send } from './api.js';
import { lines, pause, returning } from './watch.js';

/** So many objects are asked for at a time. */
const page = 500;

interface Thing {
  metadata: ObjectMeta;
}
interface List<T> {
  metadata: { resourceVersion: string; continue?: string };
  items: T[];
}

/** All objects of a collection as far as they are known, and why they are not. */
export interface Collection<T> {
  readonly items?: readonly T[];
  readonly failure?: ApiError | undefined;
}

const parameters = (query: Record<string, string>): string => new URLSearchParams(query).toString();

/** Reads page after page into a map by name; gives the version that they all have in common. */
export async function readAll<T extends Thing>(
  path: string,
  query: Record<string, string> = {},
): Promise<{ held: Map<string, T>; version: string }> {
  const held = new Map<string, T>();
  for (let more: Record<string, string> = {}; ; ) {
    const { metadata, items } = await call<List<T>>(
      'GET',
      `${path}?${parameters({ ...query, limit: String(page), ...more })}`,
    );
    for (const item of items) held.set(item.metadata.name, item);
    if (!metadata.continue) return { held, version: metadata.resourceVersion };
    more = { continue: metadata.continue };
  }
}

/** Who hears of the events of a watch: that something changed, and the last of what is gone. */
interface Told<T> {
  readonly changed: () => void;
  readonly gone: (item: T) => void;
}

/**
 * Puts the events of one watch into the map; the version to go on from, or undefined where all must
 * be read again. Throws where there is no watch.
 */
async function follow<T extends Thing>(
  address: string,
  from: string,
  held: Map<string, T>,
  { changed, gone }: Told<T>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer = await send(
    'GET',
    `${address}&watch=true&resourceVersion=${from}`,
    undefined,
    signal,
  );
  if (answer.status === 410) return undefined;
  if (!answer.ok || !answer.body) throw new ApiError(answer.status);
  let version = from;
  for await (const line of lines(answer.body)) {
    const { type, object } = JSON.parse(line) as WatchEvent<T>;
    if (type === 'ERROR') return undefined;
    version = object.metadata.resourceVersion;
    if (type === 'BOOKMARK') continue;
    if (type === 'DELETED') {
      held.delete(object.metadata.name);
      gone(object);
    } else held.set(object.metadata.name, object);
    changed();
  }
  return version;
}

const paused = async (version: string | undefined): Promise<string | undefined> => {
  await pause(1_000);
  return version;
};

/**
 * Reads a collection whole and keeps it up to date by a watch, event by event, so that looking is
 * not itself a reason to read again. What fails is told, and tried again when the person comes
 * back; stops with the signal.
 */
async function keep<T extends Thing>(
  path: string,
  query: Record<string, string>,
  changed: (now: Collection<T>) => void,
  gone: (item: T) => void,
  signal: AbortSignal,
): Promise<void> {
  let items: T[] | undefined;
  while (!signal.aborted) {
    try {
      const { held, version } = await readAll<T>(path, query);
      const show = (): void => {
        items = [...held.values()];
        if (!signal.aborted) changed({ items });
      };
      show();
      for (let from: string | undefined = version; from !== undefined && !signal.aborted; ) {
        from = await follow(
          `${path}?${parameters(query)}`,
          from,
          held,
          { changed: show, gone },
          signal,
        ).then(paused, async () => {
          await returning(signal);
          return undefined;
        });
      }
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      if (!signal.aborted) changed({ ...(items && { items }), failure: thrown });
      await returning(signal);
    }
  }
}

/** A collection that a page shows, with what it may do to it. */
export interface Kept<T> extends Collection<T> {
  /** Reads it again. */
  again: () => void;
  /** Puts in what the API just answered, ahead of the watch. */
  put: (item: T) => void;
  /** Replaces what is shown of it by what the API just answered, unless the watch was faster. */
  renew: (item: T) => void;
  /** Takes out what was just deleted, ahead of the watch. */
  drop: (name: string) => void;
}

/**
 * A collection of the API, kept up to date by a watch; nothing is asked for while `path` is
 * undefined. While `live` is false what is known stands as it is, and it is read again afterwards.
 * `gone` hears the last of what goes while it is watched.
 */
export function useCollection<T extends Thing>(
  path: string | undefined,
  query: Record<string, string> = {},
  live = true,
  gone: (item: T) => void = () => {},
): Kept<T> {
  const [now, set] = useState<Collection<T>>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === undefined || !live) return undefined;
    const stop = new AbortController();
    void keep<T>(path, query, set, gone, stop.signal);
    return () => stop.abort();
  }, [path, parameters(query), turn, live]);
  const change = (work: (items: readonly T[]) => readonly T[]): void =>
    set((known) => ({ ...known, ...(known.items && { items: work(known.items) }) }));
  return {
    ...now,
    again: () => setTurn((count) => count + 1),
    put: (item) =>
      change((items) =>
        items.some(({ metadata }) => metadata.name === item.metadata.name)
          ? items.map((one) => (one.metadata.name === item.metadata.name ? item : one))
          : [...items, item],
      ),
    renew: (item) =>
      change((items) =>
        items.map((one) =>
          one.metadata.name === item.metadata.name &&
          Number(one.metadata.resourceVersion) <= Number(item.metadata.resourceVersion)
            ? item
            : one,
        ),
      ),
    drop: (name) => change((items) => items.filter(({ metadata }) => metadata.name !== name)),
  };
}
