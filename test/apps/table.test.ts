import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from '../docs/pages.js';
import { expectFor } from '../support/expect-for.js';
import { apps } from './apps.js';
import { packagesOf } from './packages.js';

const page = readFileSync(join(root, 'docs/reference/compatibility.md'), 'utf8');
/** Name, packages, first try, and Client of each row of the table that hack/test-apps wrote. */
const rows = [
  ...page
    .split(/^## Apps$/m)[1]!
    .split(/^## /m)[0]!
    .matchAll(/^\| (?!Program|-)(.+) \|$/gm),
].map(([, cells]) => cells!.split(' | '));

test('the table of the page has each program and version that is run', () => {
  expect(rows.map(([name]) => name)).toEqual(apps.map(({ name }) => name));
  for (const [i, app] of apps.entries()) {
    for (const { name, version } of packagesOf(app)) {
      expectFor(app.name, rows[i]![1]).toEqual(
        expect.stringContaining(version ? `${name} ${version}` : name),
      );
    }
  }
});

test('at least fifteen programs sign a person in on the first try', () => {
  const isFirstTry = ([, , first]: string[]): boolean => first === 'yes';
  expect(rows.filter(isFirstTry).length).toBeGreaterThanOrEqual(15);
  for (const row of rows.filter((row) => !isFirstTry(row))) {
    expect(row[2]).toMatch(/^(\*\*no\*\*: .|not run: needs .)/);
  }
});
