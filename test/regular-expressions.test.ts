import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { expressionsOf, superLinear } from './support/super-linear.mjs';

const root = join(import.meta.dirname, '..');
/** Folders without code of the product. */
const beside = new Set([
  'node_modules',
  'dist',
  'data',
  'test',
  'hack',
  'deploy',
  'docs',
  '.git',
  '.cache',
  'types',
]);
const files = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return beside.has(name) ? [] : files(path);
    return /\.(tsx?|mjs)$/.test(name) && !/\.(gen|d)\.tsx?$/.test(name) ? [path] : [];
  });

/** The patterns of a JSON schema, as ajv compiles them. */
function patternsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, value]) =>
    name === 'pattern' && typeof value === 'string' ? [value] : patternsOf(value),
  );
}

describe('regular expressions take linear time', () => {
  test.each([
    ['(a+)+$', ''],
    ['^(a|a)*$', ''],
    ['^a+a+$', ''],
    ['a+$', ''],
    ['\\s+$', ''],
    ['\\S+@\\S+', 'g'],
    ['"(?:[^"\\\\]|\\\\.)*"', 'g'],
    ['^.*x.*y$', ''],
    ['^(\\d+|\\w+)*$', ''],
    ['[^,]*$', ''],
    ['https?:\\/\\/\\S+#\\S+', ''],
    ['^.*? is (?:by ".*?" )?not$', ''],
  ])('/%s/%s is found to take more', (source, flags) => {
    expect(superLinear({ source, flags })).toEqual(expect.any(String));
  });

  test.each([
    ['^a+$', ''],
    ['\\s+', 'g'],
    ['^\\w+@\\w+$', ''],
    ['"(?:[^"\\\\]|\\\\.)*"', 'y'],
    ['[\\w-]{40,}', 'g'],
    ['<[^<>]*>', 'g'],
    ['^(?:a+b)*$', ''],
    ['a{0,9}$', ''],
  ])('/%s/%s is found to be linear', (source, flags) => {
    expect(superLinear({ source, flags })).toBeUndefined();
  });

  test('all that the code has', () => {
    const found = files(root).flatMap((file) =>
      expressionsOf(relative(root, file), readFileSync(file, 'utf8')),
    );
    expect(found.length).toBeGreaterThan(200);
    const wrong = found.flatMap((one) => {
      const why = superLinear(one);
      return why ? [`${one.path}: /${one.source}/${one.flags}: ${why}`] : [];
    });
    expect(wrong).toEqual([]);
  });

  test('all that schemas have', () => {
    const patterns = [
      ...new Set(
        patternsOf(JSON.parse(readFileSync(join(root, 'docs/reference/openapi.json'), 'utf8'))),
      ),
    ];
    expect(patterns.length).toBeGreaterThan(10);
    expect(
      patterns.flatMap((source) => {
        const why = superLinear({ source, flags: 'u' });
        return why ? [`/${source}/u: ${why}`] : [];
      }),
    ).toEqual([]);
  });
});
