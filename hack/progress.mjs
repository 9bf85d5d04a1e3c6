// A jest reporter: one line per finished suite with the time left, failures where they happen, and at the
// end the tests that took more than half of their time and the most memory of a worker. Writes to the file
// VESTIBULE_TEST_TIMES where the time went, a line per suite.
import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const maxWorkerMiB = 1_536;

export default class Progress {
  #config;
  #startedAt = Date.now();
  #total = 0;
  #done = 0;
  #failed = 0;
  #finishedAt = [];
  #error;
  #etcd;

  constructor(config) {
    this.#config = config;
  }

  onRunStart({ numTotalTestSuites }) {
    this.#total = numTotalTestSuites;
    const patience = process.env.VESTIBULE_TEST_PATIENCE;
    print(`${this.#total} suites; the machine's timeouts are scaled by ${patience}`);
    this.#etcd = etcdOfTests();
    print(this.#etcd);
  }

  onTestFileResult({ path }, result) {
    this.#done += 1;
    this.#finishedAt.push(Date.now());
    const isFailed = result.numFailingTests > 0 || result.testExecError;
    if (isFailed) this.#noteFailure(relative(this.#config.rootDir, path), result);
    const { start, end } = result.perfStats;
    const parts = [
      `[${this.#done}/${this.#total}${this.#failed > 0 ? `, ${this.#failed} failed` : ''}]`,
      isFailed ? 'FAIL' : 'PASS',
      relative(this.#config.rootDir, path),
      `(${seconds(end - start)})${this.#left()}`,
    ];
    print(parts.join(' '));
    if (isFailed && result.failureMessage) print(result.failureMessage);
  }

  /** hack/test repeats the names at its end, also when the run was ended from outside. */
  #noteFailure(suite, { testResults }) {
    this.#failed += 1;
    const failed = testResults.filter(({ status }) => status === 'failed');
    const names = failed.map(({ fullName }) => fullName).join('; ') || 'it did not run';
    appendFileSync(join(process.env.VESTIBULE_TEST_REPORTS, 'failed'), `${suite}: ${names}\n`);
  }

  #left() {
    const left = this.#total - this.#done;
    const span = Math.min(this.#done, 20);
    if (left === 0 || this.#done < 30) return '';
    return `, about ${seconds(((Date.now() - this.#finishedAt.at(-span)) / span) * left)} left`;
  }

  /** A run whose workers keep what finished suites loaded fails. */
  getLastError() {
    return this.#error;
  }

  onRunComplete() {
    const slow = noted('slow');
    if (slow) print(`more than half of their time took:\n${slow}`);
    const suites = noted('suites')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const [largest] = suites.toSorted((one, other) => other.peak - one.peak);
    if (largest) print(`largest worker: ${Math.round(largest.peak)} MiB, in ${largest.suite}`);
    if (largest?.peak > maxWorkerMiB) {
      this.#error = new Error(`FAIL: a worker may take at most ${maxWorkerMiB} MiB`);
      print(this.#error.message);
    }
    const file = process.env.VESTIBULE_TEST_TIMES;
    if (file) writeFileSync(file, table(suites));
    print(this.#etcd);
    print(`${this.#done} suites in ${seconds(Date.now() - this.#startedAt)}`);
  }
}

/** Says which etcd the tests have, and if it is not the one that is built for them. */
function etcdOfTests() {
  const binary = process.env.VESTIBULE_TEST_ETCD;
  const { stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8' });
  const version = /etcd Version: (\S+)/.exec(stdout)?.[1] ?? 'not installed';
  const reason = ' of the PATH, because no supported one can be built here: this needs go >= 1.26';
  return `etcd: ${version}${binary === 'etcd' ? reason : ''}`;
}

/** What the environment of the suites noted under a name (test/support/environment.mjs). */
function noted(name) {
  try {
    return readFileSync(join(process.env.VESTIBULE_TEST_REPORTS, name), 'utf8');
  } catch {
    return '';
  }
}

const columns = ['seconds', 'cpu', 'children', 'service', 'etcd', 'browser', 'wait', 'peak'];

/** A line per suite, the longest first, below their sums: seconds, and memory in MiB. */
function table(suites) {
  const sum = (name) => suites.reduce((total, entry) => total + (entry[name] ?? 0), 0);
  const all = {
    suite: 'all',
    ...Object.fromEntries(columns.map((name) => [name, sum(name)])),
    peak: 0,
  };
  const lines = [all, ...suites.toSorted((one, other) => other.seconds - one.seconds)].map(
    (entry) => [
      ...columns.map((name) => (entry[name] ?? 0).toFixed(1).padStart(9)),
      `  ${entry.suite}\n`,
    ],
  );
  return [[...columns.map((name) => name.padStart(9)), '  suite\n'], ...lines].flat().join('');
}

const print = (text) => process.stderr.write(`${text}\n`);

function seconds(ms) {
  const all = Math.round(ms / 1000);
  return all < 100 ? `${all} s` : `${Math.round(all / 60)} min`;
}
