import type { ObjectMeta, WatchEvent } from '../../api.js';
import { ApiError, send } from './api.js';

/** How a watch came to its end; undefined with news. */
type WatchResult = 'ended' | 'failed' | undefined;

/**
 * Opens a watch and yields its events as they arrive, without blank lines: earlier releases send them.
 * Throws an ApiError if it cannot be opened.
 */
export async function* watchEvents<T>(
  address: string,
  signal: AbortSignal,
  accept?: string,
): AsyncGenerator<WatchEvent<T>> {
  const { ok, status, body } = await send('GET', address, undefined, signal, accept);
  if (!ok || !body) throw new ApiError(status);
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const lines = (rest + piece.value).split('\n');
    rest = lines.pop()!;
    for (const line of lines.filter(Boolean)) yield JSON.parse(line);
  }
}

type AnyEvent = WatchEvent<{ metadata: Partial<ObjectMeta> }>;

const isChange = ({ type, object }: AnyEvent, version: string): boolean =>
  type !== 'BOOKMARK' && !(type === 'ADDED' && object.metadata.resourceVersion === version);

/**
 * Reads one watch until its first event with a change, its end or its failure. Its bookmarks keep
 * proxies from closing the connection as idle.
 */
async function watchOnce(path: string, version: string, signal: AbortSignal): Promise<WatchResult> {
  try {
    const address = `${path}?allowWatchBookmarks=1&watch=1&resourceVersion=${version}`;
    for await (const event of watchEvents<AnyEvent['object']>(address, signal)) {
      if (isChange(event, version)) return undefined;
    }
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
      const attempt = new AbortController();
      stop.signal.addEventListener('abort', () => attempt.abort(), attempt);
      const ending: WatchResult =
        from === undefined ? 'failed' : await watchOnce(path, from, attempt.signal);
      attempt.abort();
      if (ending === 'ended') await delay(1_000);
      if (ending === 'failed') await untilReturn(stop.signal);
      if (!stop.signal.aborted) from = await refresh();
    }
  };
  void run();
  return () => stop.abort();
}
