import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Gallery } from './gallery.js';

/** Windows side by side: each mostly waits. */
const windows = 3;

/**
 * Opens every scene, in a few windows alike, and gathers what is found, each named by its scene.
 */
export async function everyScene(
  gallery: Gallery,
  options: BrowserContextOptions,
  query: string,
  look: (page: Page) => Promise<string[]>,
): Promise<string[]> {
  const all: string[] = [];
  const left = (await gallery.scenes()).filter(
    (scene) => !(query.includes('ar-XB') && scene === 'loading'),
  ); // no language is known yet
  await Promise.all(
    Array.from({ length: windows }, async () => {
      const context = await gallery.window(options);
      const page = await context.newPage();
      for (let scene = left.shift(); scene !== undefined; scene = left.shift()) {
        await gallery.show(page, `${scene}${query}`);
        all.push(...(await look(page)).map((fault) => `${scene}: ${fault}`));
      }
      await context.close();
    }),
  );
  return all.sort();
}
