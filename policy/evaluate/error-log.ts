import type { Log } from '../../observability/log.js';

/**
 * What went wrong while a policy was asked: the rules that failed, or those that were asked when it
 * took too long; no rule where it failed outside of them. Never what was asked.
 */
export interface EvaluationError {
  readonly what: 'error' | 'overrun';
  readonly policy: string;
  readonly rules: readonly string[];
}

const words = {
  error: 'a policy could not be applied, which refuses',
  overrun: 'a policy took too long, which refuses',
};
const max = 1_000;
const quiet = 60_000;

/**
 * Puts troubles into the log: of each rule of each policy at once, and then once a minute at most
 * with how often it was.
 */
export class EvaluationErrorLog {
  readonly #log: Log;
  readonly #noted = new Map<string, { at: number; times: number }>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** What notes each trouble it is told of. */
  static into(log: Log): (trouble: EvaluationError) => void {
    const troubles = new EvaluationErrorLog(log);
    return (trouble) => troubles.note(trouble);
  }

  /** Notes one; never throws. */
  note({ what, policy, rules }: EvaluationError): void {
    for (const rule of rules.length > 0 ? rules : [undefined]) {
      const [key, now] = [`${policy} ${what} ${rule ?? ''}`, performance.now()];
      const noted = this.#noted.get(key) ?? { at: -Infinity, times: 0 };
      noted.times += 1;
      if (now - noted.at >= quiet) {
        this.#log.error(
          { policy, ...(rule !== undefined && { rule }), times: noted.times },
          words[what],
        );
        Object.assign(noted, { at: now, times: 0 });
      }
      if (this.#noted.size >= max && !this.#noted.has(key))
        this.#noted.delete(this.#noted.keys().next().value!);
      this.#noted.set(key, noted);
    }
  }
}
