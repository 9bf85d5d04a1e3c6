import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(
  createRequire(`${process.cwd()}/package.json`).resolve('axe-core/axe.min.js'),
  'utf8',
);

interface Finding {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What axe looks for that another language or direction can break; the rest is the same in all. */
export const worded = [
  'aria-command-name',
  'aria-input-field-name',
  'button-name',
  'document-title',
  'html-has-lang',
  'html-lang-valid',
  'label',
  'link-name',
  'summary-name',
  'valid-lang',
];

/** What axe finds on the page as it stands, one line each; with `rules` these alone. */
export async function axeFindings(page: Page, rules?: string[]): Promise<string[]> {
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe);
  const only = rules ?? ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const { violations } = (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'], runOnly: ${JSON.stringify(only)} })`,
  )) as { violations: Finding[] };
  return violations.map(
    ({ id, nodes }) => `${id} at ${nodes[0]?.html} (${nodes[0]?.failureSummary})`,
  );
}

/** Whether the page scrolls sideways under a style of the reader's own. */
export async function overflows(page: Page, width: number, style = ''): Promise<string[]> {
  const before = page.viewportSize()!;
  await page.setViewportSize({ width, height: before.height });
  const over = await page.evaluate((rules) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(rules);
    document.adoptedStyleSheets = [sheet];
    const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
    document.adoptedStyleSheets = [];
    return wide;
  }, style);
  await page.setViewportSize(before);
  return over ? [`scrolls sideways at ${width} px ${style}`] : [];
}

/**
 * One heading, the landmarks, a title and both live regions (WCAG 1.3.1, 2.4.2, 4.1.3). A page in the
 * frame has a rail instead of a footer.
 */
export const structureFaults = (page: Page): Promise<string[]> =>
  page.evaluate(() => [
    ...['h1', 'header', 'main', 'footer, nav.rail', '[role=status]', '[role=alert]']
      .filter((what) => document.querySelectorAll(what).length !== 1)
      .map((what) => `not one ${what}`),
    ...(document.title.length > 3 ? [] : ['no title']),
  ]);

/** Targets lower than so many pixels (WCAG 2.5.8). */
export const smallTargets = (page: Page, least: number): Promise<string[]> =>
  page.evaluate(
    (max) =>
      [
        ...document.querySelectorAll<HTMLElement>(
          'button, input:not([type=checkbox]), summary, select, a.button',
        ),
      ]
        .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < max)
        .map((one) => `low target ${one.outerHTML}`),
    least,
  );

/** Returns what is wrong with the buttons of this document; runs in the page. */
function buttonFaultsHere(): string[] {
  const linesOf = (range: Range): number => {
    const rects = [...range.getClientRects()].filter(({ width }) => width > 0);
    const middles = rects.map(({ top, bottom }) => (top + bottom) / 2).sort((a, b) => a - b);
    return middles.filter((at, i) => i === 0 || at - middles[i - 1]! > 8).length;
  };
  const found: string[] = [];
  for (const button of document.querySelectorAll('.button')) {
    const names = [...button.querySelectorAll('bdi')].map(({ textContent }) => textContent!);
    if (names.some(({ length }) => length > 40)) continue; // what others wrote may be long
    const whole = document.createRange();
    whole.selectNodeContents(button);
    if (linesOf(whole) > 2) found.push(`${linesOf(whole)} lines: ${button.textContent}`);
    const texts = document.createTreeWalker(button, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = texts.currentNode;
      const words = /(?:(?!\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana})[\p{L}\p{M}])+/gu;
      for (const { 0: word, index } of node.textContent!.matchAll(words)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        if (linesOf(range) > 1) found.push(`broken word: ${word}`);
      }
    }
  }
  return found;
}

/** Shows a page of the gallery in each language and looks at it; runs in the page. */
async function inLanguages(
  languages: readonly string[],
  look: () => readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  const menu = document.querySelector<HTMLSelectElement>('footer select, #person-menu select');
  for (const language of menu ? languages : []) {
    menu!.value = language;
    menu!.dispatchEvent(new Event('change'));
    while (document.documentElement.lang !== language) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    found.push(...look().map((fault) => `${language}: ${fault}`));
  }
  return found;
}

/**
 * Buttons with more than two lines, or with a word that is broken. Words of Japanese and Chinese have
 * no spaces between them and may break anywhere.
 */
export const buttonFaults = (page: Page): Promise<string[]> => page.evaluate(buttonFaultsHere);

/** The same, in each of these languages. */
export const buttonFaultsIn = (page: Page, languages: readonly string[]): Promise<string[]> =>
  page.evaluate(`(${inLanguages})(${JSON.stringify(languages)}, ${buttonFaultsHere})`);
