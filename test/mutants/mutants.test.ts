import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
const here = join(root, 'test/mutants');

/** A fault that the named test must find, now and later. */
interface Mutant {
  readonly name: string;
  readonly changes: readonly {
    readonly file: string;
    readonly find: string;
    readonly replace: string;
  }[];
  readonly caughtBy: { readonly file: string; readonly test: string };
}

const mutants = JSON.parse(readFileSync(join(here, 'mutants.json'), 'utf8')) as Mutant[];
const { applied } = (await import(join(here, 'mutant.mjs'))) as {
  applied(changes: Mutant['changes'], text: string, file: string): string;
};
const sources = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
  .map((path) => readFileSync(join(root, 'test', path), 'utf8'));

describe('a mutant', () => {
  test.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    '%s: stands where it says, changes something, and has its test',
    (_, { changes, caughtBy }) => {
      for (const file of new Set(changes.map((change) => change.file))) {
        const text = readFileSync(join(root, file), 'utf8');
        expect(applied(changes, text, file)).not.toBe(text);
      }
      expect(existsSync(join(root, caughtBy.file))).toBe(true);
      expect(sources.some((source) => source.includes(caughtBy.test))).toBe(true);
    },
  );

  test('whose text is missing or occurs twice throws', () => {
    expect(() => applied([{ file: 'a', find: 'x', replace: 'y' }], 'none', 'a')).toThrow('0 times');
    expect(() => applied([{ file: 'a', find: 'x', replace: 'y' }], 'x x', 'a')).toThrow('2 times');
    expect(applied([{ file: 'a', find: 'x', replace: 'y' }], 'x x', 'b')).toBe('x x');
    expect(applied([{ file: 'a', find: 'x', replace: '$&' }], 'an x', 'a')).toBe('an $&');
  });

  test('has a name of its own', () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  });
});
