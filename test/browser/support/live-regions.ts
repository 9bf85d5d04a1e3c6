import type { BrowserContext } from 'playwright-core';

/**
 * Runs in every page before its scripts: complains on the console of text that screen readers do
 * not announce (WCAG 4.1.3).
 */
function watchRegions(): void {
  const regions = '[role=status], [role=alert], [aria-live]';
  const notices = '.notice, .error';
  /** The regions that were drawn. */
  const drawn = new Set<Element>();
  /** What regions announced, and what was read with the focus. */
  const heard = new Set<string>();
  const read = new Set<string>();
  let heading: Element | null = null;
  /** The language of the page as it was opened. */
  let language = '';
  const complain = (what: string, one: Element): void =>
    console.error(`not announced, ${what}: ${one.outerHTML.slice(0, 300)}`);
  const textOf = (one: Element): string => one.textContent!.replace(/\s+/g, '');

  const hear = (region: Element, isNewView: boolean): void => {
    const words = textOf(region);
    if (!words) return;
    heard.add(words);
    const outer = region.parentElement?.closest(regions);
    // What a new page or view says is read with it, from its heading on.
    if (outer && drawn.has(outer)) return;
    if (!drawn.has(region)) {
      if (heading && (region.hasAttribute('role') || !isNewView)) {
        complain('the region came with its text', region);
      }
    } else if (!region.getClientRects().length) {
      complain('the region is hidden', region);
    }
  };

  /** What has the focus is read with what describes it. */
  const hearFocus = (): void => {
    const { activeElement: focus, body } = document;
    if (!focus || focus === body) return;
    const ids = focus.getAttribute('aria-describedby')?.split(' ') ?? [];
    for (const one of [focus, ...ids.map((id) => document.getElementById(id))]) {
      if (one) read.add(textOf(one));
    }
  };
  addEventListener('focusin', hearFocus);

  /** What appears beside the same heading is announced, read with the focus, or said by its field. */
  const expectHeard = (notice: Element): void => {
    hearFocus();
    const described = notice.closest('[id$=-error]')?.id;
    if (!notice.isConnected || notice.closest(regions)) return;
    // In another language every text of a page is new.
    if (language !== document.documentElement.lang) return;
    // A part of a page that could not be read has a button in its place, and is read in its turn.
    if (notice.nextElementSibling?.matches('p:has(> button)')) return;
    if (described && document.querySelector(`[aria-describedby~="${described}"]`)) return;
    const words = textOf(notice);
    if (!words || words === textOf(notice.querySelector('a') ?? document.head)) return;
    const isHeard =
      [...heard].some((one) => words.includes(one) || one.includes(words)) ||
      [...read].some((one) => one.includes(words));
    if (!isHeard) complain('a notice came in silence', notice);
  };

  /** Calls back after what is announced now: that waits for effects, a frame and a tenth of a second. */
  const afterAnnouncement = (callback: () => void): void => {
    const frame = (next: () => void) => requestAnimationFrame(() => setTimeout(next, 200));
    setTimeout(() => frame(() => frame(callback)), 300);
  };

  const look = (): void => {
    drawn.clear();
    for (const region of document.querySelectorAll(regions)) drawn.add(region);
    heading = document.querySelector('h1:not(.waiting)');
  };
  new MutationObserver((changes) => {
    const isNewView = heading !== document.querySelector('h1');
    // At once: before the next frame a test may have chosen another language.
    if (document.querySelector('h1:not(.waiting)')) language ||= document.documentElement.lang;
    const added = changes
      .flatMap(({ addedNodes }) => [...addedNodes])
      .filter((node) => node instanceof Element)
      .flatMap((one) => [one, ...one.querySelectorAll('*')]);
    const changed = changes.map(({ target }) =>
      (target instanceof Element ? target : target.parentElement)?.closest(regions),
    );
    for (const region of new Set([...changed, ...added.filter((one) => one.matches(regions))])) {
      if (region?.isConnected) hear(region, isNewView);
    }
    if (heading && !isNewView) {
      for (const notice of added.filter((one) => one.matches(notices))) {
        afterAnnouncement(() => expectHeard(notice));
      }
    }
    requestAnimationFrame(look);
  }).observe(document, { subtree: true, childList: true, characterData: true });
}

/** Lets the pages of a browser complain of text that is not announced. */
export async function watchLiveRegions(context: BrowserContext): Promise<void> {
  await context.addInitScript(watchRegions);
}
