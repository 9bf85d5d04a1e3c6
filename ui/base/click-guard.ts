import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** How long a button that agrees or deletes is deaf after it became visible, in milliseconds. */
export const ignoredMs = 500;

/**
 * Gives a question to ask before acting: has what is shown been in view long enough for this click
 * to be meant for it? The time starts again when `shown` changes, when the tab comes into view and
 * when its window gets the focus.
 */
export function useClickGuard(shown: unknown): () => boolean {
  const since = useRef(0);
  useLayoutEffect(() => {
    since.current = performance.now();
  }, [shown]);
  useEffect(() => {
    const listeners = new AbortController();
    const restart = (): void => {
      since.current = performance.now();
    };
    addEventListener('focus', restart, listeners);
    document.addEventListener('visibilitychange', restart, listeners);
    return () => listeners.abort();
  }, []);
  return () => performance.now() - since.current >= ignoredMs;
}
