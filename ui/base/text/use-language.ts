import { useEffect, useState } from 'preact/hooks';
import { loadLocale } from './i18n.js';

/** The language of a page. */
export interface PageLanguage {
  readonly isLoaded: boolean;
  /** Renders the page again, after the language was changed. */
  readonly redraw: () => void;
}

/** Loads the language of the page, and then calls `begin`. */
export function useLanguage(begin?: () => void): PageLanguage {
  const [count, render] = useState(0);
  const redraw = (): void => render((former) => former + 1);
  useEffect(() => {
    void loadLocale().then(() => {
      redraw();
      begin?.();
    });
  }, []);
  return { isLoaded: count > 0, redraw };
}
