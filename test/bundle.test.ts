import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const bundle = join(import.meta.dirname, '../dist/bundle');

test('what runs holds only characters that V8 keeps in one byte each', () => {
  const files = readdirSync(bundle).filter((name) => name.endsWith('.js'));
  expect(files).toContain('main.js');
  expect(
    files.filter((name) => readFileSync(join(bundle, name)).some((byte) => byte > 0x7f)),
  ).toEqual([]);
});
