import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '..');

/** Where the words are looked for: product code, tests, commands and documentation. */
const places = [
  'apiserver',
  'cmd',
  'csv',
  'deploy',
  'docs',
  'hack',
  'i18n',
  'kinds',
  'mail',
  'observability',
  'policy',
  'provider',
  'registry',
  'security',
  'storage',
  'test',
  'ui',
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
];
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The word of each line of the list, with what stands in its place. */
const decided = read('hack/words.txt')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(': ') as [word: string, replacement: string]);

const files = execFileSync('git', ['ls-files', ...places], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.(?:tsx?|mjs|md|ya?ml)$/.test(path));

/** Where a word stands by itself; the key of a record in the store is no word. */
const standing = (word: string): string[] => {
  const whole = new RegExp(`(?<![\\w/-])${word.replace(/\./g, '\\.')}(?![\\w/-])`, 'i');
  return files.flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((line, i) => (whole.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : [])),
  );
};

test.each(decided)('"%s" stands nowhere: "%s" is the word', (word) => {
  expect(standing(word)).toEqual([]);
});

test('the list is sorted, and no word is its own replacement', () => {
  const words = decided.map(([word]) => word);
  expect(words).toEqual([...words].sort((a, b) => a.localeCompare(b, 'en')));
  for (const [word, replacement] of decided) expect(replacement).not.toBe(word);
});
