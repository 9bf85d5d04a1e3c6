// A reporter of jest: a suite that has not ended after so many minutes is stuck where no time-out of
// jest reaches it. It ends the worker that hears nothing, so that the run fails by the suite's name
// instead of never ending.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const minutes = Number(process.env.VESTIBULE_TEST_STUCK_MINUTES ?? 15);

export default class Stuck {
  #begun = new Map();
  #timer = setInterval(() => void this.#look(), 5_000).unref();

  onTestFileStart({ path }) {
    this.#begun.set(path, Date.now());
  }

  onTestFileResult({ path }) {
    this.#begun.delete(path);
  }

  onRunComplete() {
    clearInterval(this.#timer);
  }

  async #look() {
    const late = [...this.#begun].filter(([, at]) => Date.now() - at > minutes * 60_000);
    if (late.length === 0) return;
    for (const [path] of late) {
      console.error(`stuck for ${minutes} minutes: ${path}`);
      this.#begun.delete(path);
    }
    const asked = workers();
    for (const pid of asked) process.kill(pid, 'SIGUSR2'); // who hears it writes a report (--report-on-signal)
    await pause(10_000);
    const deaf = asked.filter((pid) => !reported(pid));
    for (const pid of deaf.length > 0 ? deaf : workers()) {
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
