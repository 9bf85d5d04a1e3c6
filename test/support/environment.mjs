/**
 * Jest's Node environment with timeouts scaled to the machine (measure-machine.mjs). Notes tests
 * that took more than half of their time in VESTIBULE_TEST_REPORTS, for the end of the run.
 */
import { appendFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { TestEnvironment } from 'jest-environment-node';

const patience = Number(process.env.VESTIBULE_TEST_PATIENCE ?? 1);
const reports = process.env.VESTIBULE_TEST_REPORTS;

export default class ScaledEnvironment extends TestEnvironment {
  #path;

  constructor(config, context) {
    super(config, context);
    this.#path = relative(config.projectConfig.rootDir, context.testPath);
  }

  handleTestEvent(event, state) {
    if (event.name === 'hook_start') scale(event.hook, state);
    if (event.name === 'test_start') scale(event.test, state);
    if (event.name === 'test_done') this.#noteSlow(event.test);
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
