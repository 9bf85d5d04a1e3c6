import { useEffect, useState } from 'preact/hooks';

/**
 * Whether this tab is to follow changes as they happen: the one in view that had the focus last. A
 * browser keeps six connections to a host, and every watch holds one; more tabs than one would
 * leave none for anything else.
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
