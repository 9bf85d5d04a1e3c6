import { useEffect, useState } from 'preact/hooks';

/**
 * Returns whether this tab follows changes: it is the visible one that had the focus last. A
 * browser keeps six connections per host and every watch holds one, so more live tabs would leave
 * none for anything else.
 */
export function useIsLiveTab(): boolean {
  const [live, set] = useState(!document.hidden);
  useEffect(() => {
    const listeners = new AbortController();
    const tabs = new BroadcastChannel('vestibule.account');
    const update = (): void => {
      set(!document.hidden);
      if (!document.hidden) tabs.postMessage('mine');
    };
    tabs.onmessage = () => {
      if (!document.hasFocus()) set(false);
    };
    addEventListener('focus', update, listeners);
    document.addEventListener('visibilitychange', update, listeners);
    update();
    return () => {
      listeners.abort();
      tabs.close();
    };
  }, []);
  return live;
}
