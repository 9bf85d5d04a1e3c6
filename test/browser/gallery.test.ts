import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { Gallery } from './support/gallery.js';

const axe = readFileSync(createRequire(`${process.cwd()}/package.json`).resolve('axe-core/axe.min.js'), 'utf8');
const gallery = new Gallery();
let scenes: string[];

beforeAll(async () => {
  await gallery.open();
  scenes = await gallery.scenes();
}, 120_000);
afterAll(() => gallery.close());

interface Finding { id: string; nodes: { html: string; failureSummary: string }[] }

/** What axe finds on the page as it stands, one line each. */
async function findings(page: Page, scene: string): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate('axe.run(document, { resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })') as { violations: Finding[] };
  return violations.map(({ id, nodes }) => `${scene}: ${id} at ${nodes[0]?.html} (${nodes[0]?.failureSummary})`);
}

async function everyScene(page: Page, query: string, look: (page: Page, scene: string) => Promise<string[]>): Promise<string[]> {
  const all: string[] = [];
  for (const scene of scenes) all.push(...await look(await gallery.show(page, `${scene}${query}`), scene));
  await page.context().close();
  return all;
}

test('there is a scene for every state', () => { expect(scenes.length).toBeGreaterThan(60); });

test('axe finds nothing, in light and in dark', async () => {
  const page = await (await gallery.window({ reducedMotion: 'reduce' })).newPage();
  expect(await everyScene(page, '', async (_, scene) => {
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await findings(page, scene);
    await page.emulateMedia({ colorScheme: 'dark' });
    return [...light, ...await findings(page, `${scene} in dark`)];
  })).toEqual([]);
}, 600_000);

test('axe finds nothing from right to left, and nothing is untranslated', async () => {
  const page = await (await gallery.window({ reducedMotion: 'reduce' })).newPage();
  expect(await everyScene(page, '?lang=ar-XB', async (_, scene) => {
    const [dir, lang, heading] = await page.evaluate(() => [document.documentElement.dir, document.documentElement.lang, document.querySelector('h1')?.textContent ?? '']);
    const named = /Lantern|localhost|Donau|img/;
    const wrong = dir !== 'rtl' || lang !== 'ar-XB' || (!named.test(heading!) && /[a-z]{3}/i.test(heading!)) ? [`${scene}: ${dir} ${lang} ${heading}`] : [];
    return [...wrong, ...await findings(page, scene)];
  })).toEqual([]);
}, 600_000);

/** Elements that stick out of the window, or true where the page scrolls sideways. */
const overflow = (): boolean => document.documentElement.scrollWidth > document.documentElement.clientWidth;

test.each([
  ['at 320 px', { viewport: { width: 320, height: 640 } }, '', ''],
  ['at 320 px with long words', { viewport: { width: 320, height: 640 } }, '?lang=en-XA', ''],
  ['with text of 200 %', { viewport: { width: 640, height: 800 } }, '', 'html { font-size: 200% !important }'],
  ['with spaced text', { viewport: { width: 320, height: 640 } }, '?lang=ar-XB', '* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important } p { margin-block-end: 2em !important }'],
] as const)('nothing scrolls sideways %s', async (_, options, query, style) => {
  const page = await (await gallery.window(options)).newPage();
  expect(await everyScene(page, query, async (_page, scene) => {
    await page.evaluate((rules) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(rules);
      document.adoptedStyleSheets = [sheet];
    }, style);
    return await page.evaluate(overflow) ? [scene] : [];
  })).toEqual([]);
}, 300_000);

test('targets are at least 24 px, and 44 px for coarse pointers', async () => {
  const measure = async (least: number, page: Page) => everyScene(page, '', async (_page, scene) => page.evaluate(([most, name]) =>
    [...document.querySelectorAll<HTMLElement>('button, input:not([type=checkbox]), summary, select, a.button')]
      .filter((one) => one.getBoundingClientRect().height < (most as number)).map((one) => `${name}: ${one.outerHTML}`), [least, scene]));
  expect(await measure(24, await (await gallery.window()).newPage())).toEqual([]);
  expect(await measure(44, await (await gallery.window({ hasTouch: true, isMobile: true })).newPage())).toEqual([]);
}, 300_000);

test('text of others is text: no element, address or script comes of it', async () => {
  const page = await (await gallery.window()).newPage();
  const hostile = scenes.filter((scene) => scene.startsWith('hostile'));
  expect(hostile).toHaveLength(6);
  for (const scene of hostile) {
    await gallery.show(page, scene);
    const found = await page.evaluate(() => ({
      elements: document.querySelectorAll('#app img, #app script, #app [onerror], #app b, #app [style]').length,
      links: [...document.querySelectorAll('a')].filter((link) => !/^https?:/.test(link.href)).length,
      pwned: 'pwned' in window || document.title === '1',
      shown: document.querySelector('main')!.textContent!.includes('<img src=x onerror'),
      whole: [...document.querySelectorAll('bdi')].some((one) => one.textContent!.includes('<img src=x')) || document.querySelector('input')?.value.includes('<img'),
    }));
    expect({ scene, ...found }).toMatchObject({ elements: 0, links: 0, pwned: false, whole: true });
  }
});

test('every page has one heading, landmarks, a title, a language and both live regions', async () => {
  const page = await (await gallery.window()).newPage();
  expect(await everyScene(page, '', async (_page, scene) => {
    const one = await page.evaluate(() => ({
      headings: document.querySelectorAll('h1').length, regions: ['header', 'main', 'footer', '[role=status]', '[role=alert]'].every((what) => document.querySelectorAll(what).length === 1),
      titled: document.title.length > 3, lang: document.documentElement.lang.startsWith('en'),
    }));
    const headings = scene === 'loading' ? 0 : 1;
    return one.headings === headings && one.regions && one.titled && one.lang ? [] : [`${scene}: ${JSON.stringify(one)}`];
  })).toEqual([]);
}, 300_000);

test('nothing moves for those who want no movement, and the policy of the pages was never broken', async () => {
  const page = await gallery.visit('first-visit', { reducedMotion: 'reduce' });
  expect(await page.getByRole('button', { name: 'Continue with email' }).evaluate((button) => getComputedStyle(button).transitionDuration)).toBe('0s');
  expect(gallery.complaints).toEqual([]);
  expect(gallery.server.reports).toEqual([]);
});
