// A jest reporter that ends a suite which jest's own timeout cannot reach. After
// VESTIBULE_TEST_STUCK_MINUTES it kills the unresponsive worker, so that the run fails with the
// name of the suite.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const minutes = Number(process.env.VESTIBULE_TEST_STUCK_MINUTES ?? 15);

export default class Stuck {
  #startedAt = new Map();
  #timer = setInterval(() => void this.#check(), 5_000).unref();

  onTestFileStart({ path }) {
    this.#startedAt.set(path, Date.now());
  }

  onTestFileResult({ path }) {
    this.#startedAt.delete(path);
  }

  onRunComplete() {
    clearInterval(this.#timer);
  }

  async #check() {
    const late = [...this.#startedAt].filter(([, at]) => Date.now() - at > minutes * 60_000);
    if (late.length === 0) return;
    for (const [path] of late) {
      console.error(`stuck for ${minutes} minutes: ${path}`);
      this.#startedAt.delete(path);
    }
    const pids = workers();
    for (const pid of pids) process.kill(pid, 'SIGUSR2'); // a responsive worker writes a report (--report-on-signal)
    await pause(10_000);
    const unresponsive = pids.filter((pid) => !reported(pid));
    for (const pid of unresponsive.length > 0 ? unresponsive : workers()) {
      console.error(`worker ${pid}: ${readFileSync(`/proc/${pid}/status`, 'utf8').split('\n')[2]}`);
      process.kill(pid, 'SIGKILL');
    }
  }
}

function workers() {
  try {
    const found = execFileSync('pgrep', ['-P', String(process.pid), '-f', 'jest-worker'], {
      encoding: 'utf8',
    });
    return found.trim().split('\n').map(Number);
  } catch {
    return [];
  }
}

const reported = (pid) =>
  readdirSync(process.env.VESTIBULE_TEST_REPORTS).some(
    (name) => name.startsWith('report.') && name.includes(`.${pid}.`),
  );
