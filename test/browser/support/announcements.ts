import type { BrowserContext, Page } from 'playwright-core';

/** Runs in every page before its scripts: keeps all that its live regions say, in order. */
function recordRegions(): void {
  const regions = '[role=status], [role=alert], [aria-live]';
  const announced: string[] = [];
  const keep = (text: string | null): void => {
    const words = text?.trim();
    if (words) announced.push(words);
  };
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      const at = target instanceof Element ? target : target.parentElement;
      keep(at?.closest(regions)?.textContent ?? null);
      for (const node of addedNodes) {
        if (at?.closest(regions)) keep(node.textContent);
        if (!(node instanceof Element)) continue;
        for (const region of node.querySelectorAll(regions)) keep(region.textContent);
      }
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });
  Object.assign(globalThis, { announced });
}

/** Lets the pages of a browser keep all that their live regions say. */
export async function recordAnnouncements(context: BrowserContext): Promise<void> {
  await context.addInitScript(recordRegions);
}

/** Returns what the live regions of a page have said. */
export const announcements = (page: Page): Promise<string[]> =>
  page.evaluate(() => (globalThis as unknown as { announced: string[] }).announced);
