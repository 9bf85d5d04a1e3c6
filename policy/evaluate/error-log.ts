import type { Log } from '../../observability/log.js';
import { minuteMs } from '../../registry/schema/units.js';
import { BoundedMap } from '../../security/bounded-map.js';

/**
 * An evaluation that failed or exceeded the time limit, or a refusal that could not be explained.
 * `rules` lists the rules that failed, or all that were evaluated; it is empty if the error is outside
 * of the rules. Contains nothing of the request.
 */
export interface EvaluationError {
  readonly type: 'error' | 'overrun' | 'explanation';
  readonly policy: string;
  readonly rules: readonly string[];
  /** The exception, if one was thrown. */
  readonly cause?: unknown;
}

const messages = {
  error: 'policy evaluation failed, request denied',
  explanation: 'refusal could not be explained',
  overrun: 'policy evaluation exceeded the time limit, request denied',
};
const maxEntries = 1_000;
const intervalMs = minuteMs;

/**
 * Logs evaluation errors: the first of each rule at once, then at most one a minute with their
 * count.
 */
export class EvaluationErrorLog {
  readonly #log: Log;
  readonly #entries = new BoundedMap<string, { at: number; times: number }>(maxEntries);

  constructor(log: Log) {
    this.#log = log;
  }

  /** Returns a handler that logs each error that it receives. */
  static handler(log: Log): (error: EvaluationError) => void {
    const errorLog = new EvaluationErrorLog(log);
    return (error) => errorLog.record(error);
  }

  /** Logs or counts one error; never throws. */
  record({ type, policy, rules, cause }: EvaluationError): void {
    for (const rule of rules.length > 0 ? rules : [undefined]) {
      const [key, now] = [`${policy} ${type} ${rule ?? ''}`, performance.now()];
      const entry = this.#entries.get(key) ?? { at: -Infinity, times: 0 };
      entry.times += 1;
      if (now - entry.at >= intervalMs) {
        this.#log.error(
          {
            policy,
            ...(rule !== undefined && { rule }),
            ...(cause !== undefined && { err: cause }),
            times: entry.times,
          },
          messages[type],
        );
        Object.assign(entry, { at: now, times: 0 });
      }
      this.#entries.set(key, entry);
    }
  }
}
