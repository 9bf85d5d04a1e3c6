import type { ObjectMeta, WatchEvent } from '../../api.js';
import { send } from './api.js';

/** How a watch came to its end; undefined with news. */
type WatchResult = 'ended' | 'failed' | undefined;

/** Yields the complete lines of a text stream as they arrive, without blank ones: earlier releases send them. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let rest = '';
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const parts = (rest + piece.value).split('\n');
    rest = parts.pop()!;
    yield* parts.filter(Boolean);
  }
}

const isChange = (
  { type, object }: WatchEvent<{ metadata: Partial<ObjectMeta> }>,
  version: string,
): boolean =>
  type !== 'BOOKMARK' && !(type === 'ADDED' && object.metadata.resourceVersion === version);

/**
 * Reads one watch until its first event with a change, its end or its failure. Its bookmarks keep
 * proxies from closing the connection as idle.
 */
async function watchOnce(path: string, version: string, signal: AbortSignal): Promise<WatchResult> {
  try {
    const response = await send(
      'GET',
      `${path}?allowWatchBookmarks=1&watch=1&resourceVersion=${version}`,
      undefined,
      signal,
    );
    if (!response.ok || !response.body) return 'failed';
    for await (const line of readLines(response.body))
      if (isChange(JSON.parse(line), version)) return undefined;
    return 'ended';
  } catch {
    return 'failed';
  }
}

/** Resolves after that many milliseconds. */
export const delay = (milliseconds: number): Promise<void> =>
  new Promise((done) => {
    setTimeout(done, milliseconds);
  });

/** Resolves when the person returns to the page, the network returns, or the signal aborts. */
export const untilReturn = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const listeners = new AbortController();
    const done = (): void => {
      listeners.abort();
      resolve();
    };
    for (const event of ['focus', 'online']) addEventListener(event, done, listeners);
    document.addEventListener('visibilitychange', done, listeners);
    signal.addEventListener('abort', done, listeners);
  });

/**
 * Watches a path until stopped. After an event or the end of a stream, calls `refresh` once and
 * opens a new watch. After a failure, waits for the person to return first. `refresh` returns the
 * resourceVersion to continue from, or undefined if it failed.
 */
export function watch(
  path: string,
  version: string,
  refresh: () => Promise<string | undefined>,
): () => void {
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    let from: string | undefined = version;
    while (!stop.signal.aborted) {
      const one = new AbortController();
      stop.signal.addEventListener('abort', () => one.abort(), one);
      const ending: WatchResult =
        from === undefined ? 'failed' : await watchOnce(path, from, one.signal);
      one.abort();
      if (ending === 'ended') await delay(1_000);
      if (ending === 'failed') await untilReturn(stop.signal);
      if (!stop.signal.aborted) from = await refresh();
    }
  };
  void run();
  return () => stop.abort();
}
