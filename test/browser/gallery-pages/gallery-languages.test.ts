import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { seed } from '../../support/random.js';
import { Gallery } from '../support/gallery.js';
import {
  axeFindings,
  buttonFaultsIn,
  overflows,
  smallTargets,
  worded,
} from '../support/inspection.js';
import { everyScene } from '../support/scenes.js';
import { languages } from '../support/words.js';

const gallery = new Gallery();
/** The languages with the longest words. */
const longest: ReadonlySet<string> = new Set(['de', 'nl', 'uk', 'pl', 'tr']);

beforeAll(() => gallery.open(), 120_000);
afterAll(() => gallery.close());

const spacing =
  '* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important } p { margin-block-end: 2em !important }';

test('every scene is accessible from right to left, translated, and fits spaced text', async () => {
  const untranslated = (page: Page) =>
    page.evaluate(() => {
      const { dir, lang } = document.documentElement;
      const own = document.querySelector('h1')?.cloneNode(true) as HTMLElement | undefined;
      own?.querySelectorAll('bdi, [aria-hidden]').forEach((name) => name.remove());
      return dir === 'rtl' && lang === 'ar-XB' && !/[a-z]/i.test(own?.textContent ?? '')
        ? []
        : [`${dir} ${lang} ${own?.textContent}`];
    });
  expect(
    await everyScene(gallery, { reducedMotion: 'reduce' }, '?lang=ar-XB', async (page) => [
      ...(await untranslated(page)),
      ...(await axeFindings(page, worded)),
      ...(await overflows(page, 320, spacing)),
    ]),
  ).toEqual([]);
}, 600_000);

test('every scene fits long words, and fingers', async () => {
  expect(
    await everyScene(
      gallery,
      { hasTouch: true, isMobile: true, viewport: { width: 320, height: 640 } },
      '?lang=en-XA',
      async (page) => [...(await overflows(page, 320)), ...(await smallTargets(page, 44))],
    ),
  ).toEqual([]);
}, 600_000);

/** Every second language, by the seed: two runs see all. */
const drawn = languages.filter((_, i) => (i + seed) % 2 === 0);

test('no button has more than two lines or a broken word, in any language', async () => {
  const options = { reducedMotion: 'reduce', viewport: { width: 320, height: 640 } } as const;
  const look = async (page: Page): Promise<string[]> => {
    const found = await buttonFaultsIn(page, drawn);
    await page.setViewportSize({ width: 412, height: 640 });
    found.push(
      ...(await buttonFaultsIn(
        page,
        drawn.filter((one) => longest.has(one)),
      )),
    );
    await page.setViewportSize(options.viewport);
    return found;
  };
  expect(await everyScene(gallery, options, '', look)).toEqual([]);
}, 600_000);

test('the policy of the pages was never broken', () => {
  expect(gallery.complaints).toEqual([]);
  expect(gallery.server.reports).toEqual([]);
});
