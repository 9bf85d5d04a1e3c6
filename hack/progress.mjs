// A jest reporter: one line per finished suite with the time left, failures where they happen, and at the
// end the tests that took more than half of their time.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export default class Progress {
  #config;
  #startedAt = Date.now();
  #total = 0;
  #done = 0;
  #failed = 0;
  #finishedAt = [];

  constructor(config) {
    this.#config = config;
  }

  onRunStart({ numTotalTestSuites }) {
    this.#total = numTotalTestSuites;
    const patience = process.env.VESTIBULE_TEST_PATIENCE;
    print(`${this.#total} suites; the machine's timeouts are scaled by ${patience}`);
  }

  onTestFileResult({ path }, result) {
    this.#done += 1;
    this.#finishedAt.push(Date.now());
    const isFailed = result.numFailingTests > 0 || result.testExecError;
    if (isFailed) this.#failed += 1;
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

  #left() {
    const left = this.#total - this.#done;
    const span = Math.min(this.#done, 20);
    if (left === 0 || this.#done < 30) return '';
    return `, about ${seconds(((Date.now() - this.#finishedAt.at(-span)) / span) * left)} left`;
  }

  onRunComplete() {
    const reports = process.env.VESTIBULE_TEST_REPORTS;
    try {
      print(`more than half of their time took:\n${readFileSync(join(reports, 'slow'), 'utf8')}`);
    } catch {
      // No test did.
    }
    print(`${this.#done} suites in ${seconds(Date.now() - this.#startedAt)}`);
  }
}

const print = (text) => process.stderr.write(`${text}\n`);

function seconds(ms) {
  const all = Math.round(ms / 1000);
  return all < 100 ? `${all} s` : `${Math.round(all / 60)} min`;
}
