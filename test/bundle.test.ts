import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
// @ts-expect-error the commands have no types
import { runtimePackages } from '../hack/artefacts/runtime-packages.mjs';

const bundle = join(import.meta.dirname, '../dist/bundle');

test('what runs holds only characters that V8 keeps in one byte each', () => {
  const files = readdirSync(bundle).filter((name) => name.endsWith('.js'));
  expect(files).toContain('main.js');
  expect(
    files.filter((name) => readFileSync(join(bundle, name)).some((byte) => byte > 0x7f)),
  ).toEqual([]);
});

test('what runs knows the commit and the time that it was built from', () => {
  const text = readdirSync(bundle)
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(join(bundle, name), 'utf8'))
    .join('\n');
  expect(text).toMatch(/commit["']?: ?["'][0-9a-f]{40}["']/);
  expect(text).toMatch(/date["']?: ?["']20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ["']/);
});

test('what runs loads the packages of the list from node_modules, and no other', () => {
  const text = readdirSync(bundle)
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(join(bundle, name), 'utf8'))
    .join('\n');
  const imports = /^import .*? ?from "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm;
  const required = /\b__require\("([^"]+)"\)|\bcreateRequire\([^()]*\)(?:\.resolve)?\("([^"]+)"\)/g;
  const loaded = [...text.matchAll(imports), ...text.matchAll(required)]
    .map((found) => found.slice(1).find(Boolean)!)
    .filter((name) => !/^(node:|\.)/.test(name) && !builtinModules.includes(name))
    .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0]);
  expect(runtimePackages).toEqual(expect.arrayContaining(loaded));
  for (const name of runtimePackages) expect(text).toMatch(new RegExp(`["']${name}["'/]`));
});
