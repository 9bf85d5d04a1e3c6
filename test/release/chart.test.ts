import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { release } from '../../observability/build-info.js';
import { forget, helms } from '../cluster/helm.js';
import { released, root } from './artefacts.js';

afterAll(forget);

const [helm] = helms;
const run = released && helm ? test : test.skip;
const file = join(released ?? '', 'chart', `vestibule-${release}.tgz`);

run('Helm reads and renders the packaged chart (skipped without a release and Helm)', async () => {
  const shown = await helm!.run(['show', 'chart', file]);
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining(`version: ${release}`) });
  const values = join(root, 'deploy/examples/0-quickstart/values.yaml');
  const { code, out } = await helm!.template(['--values', values], file);
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(new RegExp(`image: "?\\S+/vestibule:${release}"?\\n`)),
  ]);
});

const withRelease = released ? test : test.skip;
withRelease('the packaged chart has every template (skipped without a release)', () => {
  const names = execFileSync('tar', ['-tf', file], { encoding: 'utf8' }).split('\n');
  const templates = readdirSync(join(root, 'deploy/chart/templates'), { recursive: true });
  for (const one of templates) {
    expect(names.map((entry) => entry.replace(/\/$/, ''))).toContain(`vestibule/templates/${one}`);
  }
  expect(names.filter((entry) => entry.startsWith('vestibule/ci'))).toEqual([]);
});
