// Reads jest reports; later ones are of suites that ran again. `--failed REPORT` prints the failed
// suites, one per line. Otherwise prints each test that failed first and then passed alone, and one
// line with the totals.
import { readFileSync } from 'node:fs';

const read = (file) => JSON.parse(readFileSync(file, 'utf8') || '{}').testResults ?? [];
const failedIn = (suite) => suite.assertionResults.filter(({ status }) => status === 'failed');

const [first, ...rest] = process.argv.slice(2);
if (first === '--failed') {
  const failed = read(rest[0]).filter(({ status }) => status === 'failed');
  for (const { name } of failed) console.log(name);
} else {
  const suites = new Map(read(first).map((suite) => [suite.name, suite]));
  for (const again of rest.flatMap(read)) {
    const names = failedIn(suites.get(again.name)).map(({ fullName }) => fullName);
    if (again.status !== 'failed') {
      console.error(
        `unstable, passed when run again alone: ${again.name}: ${names.join('; ') || 'it did not run'}`,
      );
    }
    suites.set(again.name, again);
  }
  const counts = { passed: 0, failed: 0, pending: 0 };
  for (const suite of suites.values()) {
    for (const { status } of suite.assertionResults) counts[status] = (counts[status] ?? 0) + 1;
    if (suite.status === 'failed' && failedIn(suite).length === 0) counts.failed += 1;
  }
  console.log(
    `${counts.passed} passed, ${counts.failed} failed${counts.pending ? `, ${counts.pending} skipped` : ''}`,
  );
}
