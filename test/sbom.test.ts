import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { release } from '../observability/build-info.js';

const root = join(import.meta.dirname, '..');
const bill = (SOURCE_DATE_EPOCH: string): string =>
  execFileSync(process.execPath, ['hack/sbom.mjs', '.'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, SOURCE_DATE_EPOCH },
  });

test('the bill of materials names every installed package', () => {
  const text = bill('1700000000');
  expect(bill('1700000000')).toBe(text);
  const { components, dependencies, metadata, serialNumber } = JSON.parse(text);
  const { packages } = JSON.parse(
    readFileSync(join(root, 'node_modules/.package-lock.json'), 'utf8'),
  ) as { packages: Record<string, { name?: string; version: string }> };
  const installed = Object.entries(packages).map(
    ([path, { name = path.split('node_modules/').at(-1)!, version }]) => `${name}@${version}`,
  );
  expect(components.map((component: any) => component['bom-ref']).sort()).toEqual(
    [...new Set(installed)].sort(),
  );
  expect(dependencies.map(({ ref }: any) => ref).sort()).toEqual(
    [`vestibule@${release}`, ...new Set(installed)].sort(),
  );
  expect([
    metadata.timestamp,
    metadata.component.name,
    JSON.parse(bill('0')).serialNumber === serialNumber,
  ]).toEqual(['2023-11-14T22:13:20.000Z', 'vestibule', false]);
});
