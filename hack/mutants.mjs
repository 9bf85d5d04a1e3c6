import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mutants } from '../test/mutants/mutant.mjs';

const root = join(import.meta.dirname, '..');
const words = process.argv.slice(2);
const chosen = mutants.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
);
const reports = mkdtempSync(join(tmpdir(), 'vestibule-mutants-'));
const timeoutMs = 400_000;
/** Errors of the test itself, not failed assertions. */
const testErrors =
  /SyntaxError|ReferenceError|Exceeded timeout|Cannot find module|is not a function/;

/**
 * Builds the pages with a mutant that changes some; returns the folder to serve them from. The
 * gallery's tests build their own.
 */
async function buildPages({ name, changes, at }) {
  if (!changes.some(({ file }) => file.startsWith('ui/'))) return undefined;
  const folder = join(reports, `${at}-root`);
  const build = ['ui/build.mjs', join(folder, 'dist/ui'), 'test/mutants/vite-plugin.mjs'];
  await promisify(execFile)(process.execPath, build, {
    cwd: root,
    env: { ...process.env, VESTIBULE_MUTANT: name },
  });
  return folder;
}

/**
 * Runs one test with or without a mutant. Returns the counts, the failure messages, and whether it
 * could not run.
 */
function run({ file, test }, mutant, at, served) {
  const report = join(reports, `${at}.json`);
  const pattern = test.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const flags = [
    '--no-install',
    'jest',
    '--ci',
    '--silent',
    '--runInBand',
    '--forceExit',
    '--json',
    `--outputFile=${report}`,
    '-t',
    pattern,
    '--runTestsByPath',
    file,
  ];
  const environment = {
    ...process.env,
    NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
    VESTIBULE_MUTANT: mutant,
    VESTIBULE_TEST_PATIENCE: '1', // waits that fail with a mutant end early
    ...(served && { VESTIBULE_TEST_ROOT: served }),
  };
  return new Promise((resolve) => {
    const child = spawn('npx', flags, {
      cwd: root,
      env: environment,
      stdio: 'ignore',
      detached: true,
    });
    const late = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), timeoutMs);
    child.on('close', () => {
      clearTimeout(late);
      try {
        const { testResults, numPassedTests, numFailedTests } = JSON.parse(
          readFileSync(report, 'utf8'),
        );
        const messages = testResults
          .flatMap(({ assertionResults }) => assertionResults)
          .filter(({ status }) => status === 'failed')
          .map(({ failureMessages }) => failureMessages.join('\n'));
        resolve({
          passed: numPassedTests,
          failed: numFailedTests,
          messages,
          broken: testResults.some(
            ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
          ),
        });
      } catch {
        resolve({ passed: 0, failed: 0, messages: [], broken: true });
      }
    });
  });
}

/** Returns what is wrong with the test of a mutant, or undefined. */
function verdict(off, on) {
  if (off.broken || off.failed > 0) {
    return `its test fails without it: ${off.messages[0]?.slice(0, 300) ?? 'it did not run'}`;
  }
  if (off.passed === 0) return 'its test does not exist';
  if (on.broken) return 'with it the test could not be run';
  if (on.failed === 0) return 'IS NOT CAUGHT';
  return on.messages.every((message) => testErrors.test(message))
    ? `its test fails, but not for what it found: ${on.messages[0].slice(0, 300)}`
    : undefined;
}

const startedAt = performance.now();
let wrong = 0;
const waiting = chosen.map((mutant, at) => ({ ...mutant, at }));
async function work() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const from = performance.now();
    const off = await run(next.caughtBy, '', `${next.at}-off`);
    const on = await run(next.caughtBy, next.name, `${next.at}-on`, await buildPages(next));
    const fault = verdict(off, on);
    if (fault) wrong += 1;
    const said = on.messages[0]
      ?.replace(/\u001b\[[0-9;]*m/g, '')
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
      .slice(0, 3)
      .join(' | ')
      .slice(0, 140);
    console.log(
      `${fault ? 'WRONG ' : 'caught'}  ${next.name}  (${((performance.now() - from) / 1000).toFixed(0)} s)${fault ? `: ${fault}` : `  ${said}`}`,
    );
  }
}
try {
  await Promise.all([work(), work()]);
} finally {
  rmSync(reports, { recursive: true, force: true });
}
console.log(
  `${chosen.length - wrong} of ${chosen.length} mutants are caught, in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
);
process.exit(wrong === 0 && chosen.length > 0 ? 0 : 1);
