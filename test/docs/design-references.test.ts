import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { anchorsOf, files, pages, read, root } from './pages.js';

/** Files whose tests contain references that lead nowhere. */
const samples = new Set(['test/docs/design-references.test.ts', 'test/docs/links.test.ts']);

const isScript = (path: string): boolean =>
  path.startsWith('hack/') && !basename(path).includes('.') && read(path).startsWith('#!');

/** Product, tests, scripts and docs. Relative links between pages are for links.test.ts. */
const checked = files().filter(
  (path) => (/\.(tsx?|mjs|js|md|ya?ml)$/.test(path) || isScript(path)) && !samples.has(path),
);

const pageNames = new Set(pages().map((page) => basename(page)));

/** White space with the marks of a comment that goes on in the next line. */
const gap = String.raw`\s[\s*#/]*`;
const pathOfPage = /(?<![\w./-])(docs\/[\w./-]*\.md)(?!\w)(?:#([\w-]+))?/g;
const bareName = /(?<![\w./-])[\w-]+\.md(?!\w)/g;
const numberedPage = new RegExp(
  String.raw`[\w-]+\.md\`?,?${gap}(?:sections? |§)?[A-Z]?\d[\d.]*`,
  'g',
);
const numberedSpecification = new RegExp(String.raw`specification${gap}\d[\d.]*`, 'gi');

interface Reference {
  readonly text: string;
  /** Where it begins in its file, in characters. */
  readonly at: number;
  readonly fault: string;
}

const found = (pattern: RegExp, text: string, fault: string): Reference[] =>
  [...text.matchAll(pattern)].map((match) => ({ text: match[0], at: match.index, fault }));

/** Paths of pages that do not exist, or do not have the heading. */
function wrongPaths(text: string): Reference[] {
  return [...text.matchAll(pathOfPage)].flatMap((match) => {
    const [reference, page, heading] = match as unknown as [string, string, string | undefined];
    const isPage = existsSync(join(root, page));
    if (isPage && (heading === undefined || anchorsOf(page).has(heading))) return [];
    return { text: reference, at: match.index, fault: isPage ? 'no such heading' : 'no such page' };
  });
}

/** Names of pages, without a folder, that the repository does not have. */
const unknownNames = (text: string): Reference[] =>
  found(bareName, text, 'no such page').filter((one) => !pageNames.has(one.text));

/** What is wrong with the references in the text of a file, by line. Pages name files of others. */
function faultsIn(path: string, text: string): string[] {
  const wrong = [
    ...wrongPaths(text),
    ...found(numberedPage, text, 'sections have no numbers'),
    ...found(numberedSpecification, text, 'no such specification'),
    ...(path.endsWith('.md') ? [] : unknownNames(text)),
  ];
  return wrong.map(({ text: reference, at, fault }) => {
    const line = text.slice(0, at).split('\n').length;
    return `${path}:${line}: ${fault}: ${reference.replaceAll(/[\s*#/]*\n[\s*#/]*/g, ' ')}`;
  });
}

test('every page and heading that a file refers to exists', () => {
  expect(checked.length).toBeGreaterThan(500);
  expect(checked).toEqual(
    expect.arrayContaining(['hack/verify', 'docs/README.md', 'cmd/vestibule/main.ts']),
  );
  expect(checked.flatMap((path) => faultsIn(path, read(path)))).toEqual([]);
});

test.each([
  ['docs/design/missing.md', 'no such page: docs/design/missing.md'],
  ['docs/design/missing.md#heading', 'no such page: docs/design/missing.md#heading'],
  ['docs/design/limits.md#missing', 'no such heading: docs/design/limits.md#missing'],
  ['(`limits.md` 15)', 'sections have no numbers: limits.md` 15'],
  ['(`limits.md`\n * 4)', 'sections have no numbers: limits.md` 4'],
  ['# limits.md\n# M8', 'sections have no numbers: limits.md M8'],
  ['(`limits.md`, section 2)', 'sections have no numbers: limits.md`, section 2'],
  ['(specification 5.6)', 'no such specification: specification 5.6'],
  ['(Specification\n   * 2)', 'no such specification: Specification 2'],
  ['(`missing.md`, One request)', 'no such page: missing.md'],
])('%j is found', (text, fault) => {
  expect(faultsIn('main.ts', `first\n${text}`)).toEqual([`main.ts:2: ${fault}`]);
});

test.each([
  'docs/design/limits.md',
  'docs/design/limits.md#to-add-one, and docs/README.md.',
  'RFC 9700 §2.1.1',
  'the specification of Cedar 4',
  'CONTRIBUTING.md says how.',
  'https://github.com/example/one/blob/main/docs/other.md',
])('%j is no fault', (text) => {
  expect(faultsIn('main.ts', text)).toEqual([]);
});
