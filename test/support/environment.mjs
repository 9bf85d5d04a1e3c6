/**
 * Jest's Node environment with timeouts scaled to the machine (measure-machine.mjs). Notes in
 * VESTIBULE_TEST_REPORTS, for the end of the run, tests that took more than half of their time and
 * what each suite used.
 */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

const patience = Number(process.env.VESTIBULE_TEST_PATIENCE ?? 1);
const reports = process.env.VESTIBULE_TEST_REPORTS;

export default class ScaledEnvironment extends TestEnvironment {
  #path;
  #times = {};
  #before = used();
  #startedAt = performance.now();

  constructor(config, context) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    super(config, context);
    vm.createContext = createContext;
    this.#path = relative(config.projectConfig.rootDir, context.testPath);
    this.global.suiteTimes = this.#times; // filled by test/support/timed.ts
  }

  async teardown() {
    await super.teardown();
    if (reports) this.#noteUsed();
  }

  #noteUsed() {
    const { peak, ...cpu } = used();
    const entry = {
      suite: this.#path,
      seconds: (performance.now() - this.#startedAt) / 1000,
      ...this.#times,
      cpu: cpu.own - this.#before.own,
      children: cpu.children - this.#before.children,
      peak,
    };
    appendFileSync(join(reports, 'suites'), `${JSON.stringify(entry)}\n`);
  }

  handleTestEvent(event, state) {
    if (event.name === 'hook_start') scale(event.hook, state);
    if (event.name === 'test_start') scale(event.test, state);
    if (['test_fn_failure', 'hook_failure'].includes(event.name)) this.#nameSeed(event);
    if (event.name === 'test_done') this.#noteSlow(event.test);
  }

  /** Adds the seed to the failure of a test or hook that drew at random (test/support/random.ts). */
  #nameSeed({ error }) {
    const { testSeed } = this.global;
    if (testSeed === undefined || !error?.stack) return;
    error.stack = `VESTIBULE_TEST_SEED=${testSeed} repeats what was drawn.\n${error.stack}`;
  }

  #noteSlow({ duration, timeout, name }) {
    if (!reports || !duration || duration < timeout / 2) return;
    const [seconds, limit] = [duration, timeout].map((ms) => Math.round(ms / 1000));
    appendFileSync(join(reports, 'slow'), `${this.#path}: ${name} (${seconds} of ${limit} s)\n`);
  }
}

/** Scales the timeout of a test or hook, once: a hook starts again for each of its tests. */
function scale(entry, state) {
  entry.baseTimeout ??= entry.timeout || state.testTimeout;
  entry.timeout = entry.baseTimeout * patience;
}

/**
 * CPU seconds of this process and of its ended children, and the most memory in MiB since the last
 * call (proc(5)). Zeros where there is no /proc.
 */
function used() {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const ticks = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
      .map(Number);
    const [user, system, childUser, childSystem] = ticks;
    const [, peak] = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'));
    writeFileSync('/proc/self/clear_refs', '5');
    return {
      own: (user + system) / 100,
      children: (childUser + childSystem) / 100,
      peak: peak / 1024,
    };
  } catch {
    return { own: 0, children: 0, peak: 0 };
  }
}
