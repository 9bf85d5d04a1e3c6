import type { BrowserContext } from 'playwright-core';

/**
 * Runs in every page before its scripts: complains on the console of text that screen readers do
 * not announce (WCAG 4.1.3).
 */
function watchRegions(): void {
  const regions = '[role=status], [role=alert], [aria-live]';
  /** The regions that were drawn. */
  const drawn = new Set<Element>();
  let heading: Element | null = null;
  const complain = (what: string, one: Element): void =>
    console.error(`not announced, ${what}: ${one.outerHTML.slice(0, 300)}`);
  const textOf = (one: Element): string => one.textContent!.replace(/\s+/g, '');

  const hear = (region: Element, isNewView: boolean): void => {
    const words = textOf(region);
    if (!words) return;
    const outer = region.parentElement?.closest(regions);
    // What a new page or view says is read with it, from its heading on.
    if (outer && drawn.has(outer)) return;
    if (!drawn.has(region)) {
      if (heading && (region.hasAttribute('role') || !isNewView))
        complain('the region came with its text', region);
    } else if (!region.getClientRects().length) complain('the region is hidden', region);
  };

  const look = (): void => {
    drawn.clear();
    for (const region of document.querySelectorAll(regions)) drawn.add(region);
    heading = document.querySelector('h1:not(.waiting)');
  };
  new MutationObserver((changes) => {
    const isNewView = heading !== document.querySelector('h1');
    const added = changes
      .flatMap(({ addedNodes }) => [...addedNodes])
      .filter((node) => node instanceof Element)
      .flatMap((one) => [one, ...one.querySelectorAll('*')]);
    const changed = changes.map(({ target }) =>
      (target instanceof Element ? target : target.parentElement)?.closest(regions),
    );
    for (const region of new Set([...changed, ...added.filter((one) => one.matches(regions))]))
      if (region?.isConnected) hear(region, isNewView);
    requestAnimationFrame(look);
  }).observe(document, { subtree: true, childList: true, characterData: true });
}

/** Lets the pages of a browser complain of text that is not announced. */
export async function watchLiveRegions(context: BrowserContext): Promise<void> {
  await context.addInitScript(watchRegions);
}
