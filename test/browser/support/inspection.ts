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

/** One heading, the landmarks, a title and both live regions (WCAG 1.3.1, 2.4.2, 4.1.3). */
export const structureFaults = (page: Page): Promise<string[]> =>
  page.evaluate(() => [
    ...['h1', 'header', 'main', 'footer', '[role=status]', '[role=alert]']
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
        .filter((one) => one.getBoundingClientRect().height < max)
        .map((one) => `low target ${one.outerHTML}`),
    least,
  );
