import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
import { anchorsOf, pages, proseOf, root } from './pages.js';

/** Its links are those of the page that it becomes part of. */
const templates = new Set(['hack/generate/chart.md']);

const linked = (page: string): string[] =>
  [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, to]) => to!)
    .filter((to) => !/^[a-z]+:/.test(to));

/** What is wrong with a link, if anything. */
function fault(page: string, to: string): string | undefined {
  const [path, anchor] = to.split('#') as [string, string | undefined];
  const target = path === '' ? page : relative(root, join(root, dirname(page), path));
  if (target.startsWith('..') || !existsSync(join(root, target))) {
    return `${page}: there is no ${to}`;
  }
  if (anchor === undefined) return undefined;
  return statSync(join(root, target)).isFile() &&
    target.endsWith('.md') &&
    anchorsOf(target).has(anchor)
    ? undefined
    : `${page}: there is no heading ${to}`;
}

test('every link of every page leads to a file that is there, and to a heading of it', () => {
  const known = pages().filter((page) => !templates.has(page));
  const all = known.flatMap((page) => linked(page).map((to) => ({ page, to })));
  expect(all.length).toBeGreaterThan(150);
  expect(all.flatMap(({ page, to }) => fault(page, to) ?? [])).toEqual([]);
});

test('what leads nowhere is found', () => {
  expect([
    fault('README.md', 'docs/missing.md'),
    fault('README.md', 'docs/README.md#missing'),
    fault('README.md', '../elsewhere'),
    fault('README.md', 'docs/README.md#how-to'),
  ]).toEqual([
    'README.md: there is no docs/missing.md',
    'README.md: there is no heading docs/README.md#missing',
    'README.md: there is no ../elsewhere',
    undefined,
  ]);
});

test('every page of the documentation is in its index, and once', () => {
  const listed = linked('docs/README.md').map((to) =>
    relative(root, join(root, 'docs', to.split('#')[0]!)),
  );
  expect(listed.filter((one, i) => listed.indexOf(one) !== i)).toEqual([]);
  const own = pages().filter(
    (page) =>
      page.startsWith('docs/') && page !== 'docs/README.md' && !/\/runbooks\/(?!README)/.test(page),
  );
  expect(own.filter((page) => !listed.includes(page))).toEqual([]);
});

/** How many cells a line of a table has, and two. */
const cellsOf = (line: string): number => line.replaceAll('\\|', '').split('|').length;

test('every table has as many headings as columns: another one is shown as text', () => {
  const wrong = pages().flatMap((page) => {
    const lines = proseOf(page).split('\n');
    return lines.flatMap((line, i) =>
      /^\|[ :|-]+\|$/.test(line) &&
      line.includes('-') &&
      cellsOf(line) !== cellsOf(lines[i - 1] ?? '')
        ? `${page}: ${lines[i - 1]}`
        : [],
    );
  });
  expect(wrong).toEqual([]);
});
