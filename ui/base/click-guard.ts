import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Milliseconds for which a confirming or deleting button ignores clicks after it became visible.
 */
export const ignoredMs = 500;

/**
 * Returns a function that says whether the content has been in view long enough for a click to be
 * meant for it. The time starts again when `shown` changes, when the tab becomes visible and when
 * its window gets the focus.
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
