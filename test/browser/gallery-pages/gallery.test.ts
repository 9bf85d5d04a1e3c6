import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Gallery } from '../support/gallery.js';
import { axeFindings, overflows, smallTargets, structureFaults } from '../support/inspection.js';
import { everyScene } from '../support/scenes.js';

const gallery = new Gallery();
let scenes: string[];

beforeAll(async () => {
  await gallery.open();
  scenes = await gallery.scenes();
}, 120_000);
afterAll(() => gallery.close());

test('there is a scene for every state', () => {
  expect(scenes.length).toBeGreaterThan(90);
});

test('every scene is accessible in light and dark, fits small windows and large text', async () => {
  expect(
    await everyScene(
      gallery,
      { reducedMotion: 'reduce', colorScheme: 'light' },
      '',
      async (page) => {
        // What lies under the bar of a scrolled page can be scrolled from there.
        await page.evaluate(() => scrollTo(0, 0));
        const faults = [
          ...(await structureFaults(page)),
          ...(await smallTargets(page, 24)),
          ...(await axeFindings(page)),
        ];
        await page.emulateMedia({ colorScheme: 'dark' });
        faults.push(...(await axeFindings(page, ['color-contrast', 'link-in-text-block'])));
        await page.emulateMedia({ colorScheme: 'light' });
        return [
          ...faults,
          ...(await overflows(page, 320)),
          ...(await overflows(page, 640, 'html { font-size: 200% !important }')),
        ];
      },
    ),
  ).toEqual([]);
}, 600_000);

test('text of others is text: no element, address or script comes of it', async () => {
  const page = await (await gallery.window()).newPage();
  const hostile = scenes.filter((scene) => scene.startsWith('hostile'));
  expect(hostile).toHaveLength(10);
  for (const scene of hostile) {
    await gallery.show(page, scene);
    const found = await page.evaluate(() => ({
      elements: document.querySelectorAll(
        '#app img:not(.monogram), #app script, #app [onerror], #app b, #app [style]',
      ).length,
      links: [...document.querySelectorAll('a')].filter((link) => !/^https?:/.test(link.href))
        .length,
      pwned: 'pwned' in window || document.title === '1',
      shown: document.querySelector('main')!.textContent!.includes('<img src=x onerror'),
      whole:
        [...document.querySelectorAll('bdi')].some((one) =>
          one.textContent!.includes('<img src=x'),
        ) || document.querySelector('input')?.value.includes('<img'),
    }));
    expect({ scene, ...found }).toMatchObject({ elements: 0, links: 0, pwned: false, whole: true });
  }
});

test('nothing moves for those who want no movement', async () => {
  const page = await gallery.visit('first-visit', { reducedMotion: 'reduce' });
  expect(
    await page
      .getByRole('button', { name: 'Continue with email' })
      .evaluate((button) => getComputedStyle(button).transitionDuration),
  ).toBe('0s');
  expect(gallery.complaints).toEqual([]);
  expect(gallery.server.reports).toEqual([]);
});
