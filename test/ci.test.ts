import { afterAll, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = mkdtempSync(join(tmpdir(), 'vestibule-ci-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
for (const folder of ['.ci', 'hack']) mkdirSync(join(root, folder));
cpSync(join(import.meta.dirname, '../.ci/run'), join(root, '.ci/run'));

/** Runs .ci/run where both suites do no more than say something; what it says, how it ends, and what the second was given. */
function run(first: string, second: string): { out: string; code: number | null; given: string } {
  const given = join(root, 'given');
  rmSync(given, { force: true });
  for (const [name, script] of [['test', first], ['test-cluster', `echo "$@" > ${given}; ${second}`]]) {
    writeFileSync(join(root, 'hack', name!), `#!/usr/bin/env bash\n${script}\n`);
    chmodSync(join(root, 'hack', name!), 0o755);
  }
  const { stdout, status } = spawnSync(join(root, '.ci/run'), { encoding: 'utf8' });
  let told = '';
  try { told = readFileSync(given, 'utf8').trim() } catch { /* it was not begun */ }
  return { out: stdout, code: status, given: told };
}

const given = expect.stringMatching(/^--within (20|19)\d\d chart$/);

test.each([
  ['both pass', 'echo noise; echo "7 passed, 0 failed"', 'echo "SKIPPED chart: 9 passed, 9 failed"; echo "5 passed, 0 failed"', { out: '12 passed, 0 failed\n', code: 0, given }],
  ['something is skipped', 'echo "7 passed, 0 failed, 1 skipped"', 'echo "SKIPPED chart: no Go"; echo "0 passed, 0 failed, 2 skipped"', { out: '7 passed, 0 failed, 3 skipped\n', code: 0, given }],
  ['the first fails', 'echo "7 passed, 2 failed"; exit 1', 'echo "5 passed, 0 failed"', { out: '12 passed, 2 failed\n', code: 1, given }],
  ['the second fails', 'echo "7 passed, 0 failed"', 'echo "4 passed, 1 failed, 1 skipped"; exit 3', { out: '11 passed, 1 failed, 1 skipped\n', code: 3, given }],
  ['nothing could be tested', 'echo "types are wrong" >&2; exit 2', 'echo "5 passed, 0 failed"', { out: '', code: 2, given: '' }],
  ['nothing was counted', 'true', 'echo "5 passed, 0 failed"', { out: '', code: 1, given: '' }],
])('where %s, one line counts both suites and the exit code says so', (_, first, second, wanted) => expect(run(first, second)).toEqual(wanted));
