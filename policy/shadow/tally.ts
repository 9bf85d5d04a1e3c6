import { newest, type ShadowCounts, zeroShadowCounts } from '../../kinds/policy/shadow-status.js';
import { entriesOf } from '../../registry/schema/typed-entries.js';
import type { AuthorizationResponse } from '../evaluate/decision-result.js';

/** What a policy in mode Shadow would have changed about a decision. */
export type ShadowResult = 'unchanged' | 'nowRefused' | 'nowAllowed' | 'undecidable';

/** Compares a decision with what the policy would have decided; undefined if it could not decide. */
export function compareDecisions(
  allowed: boolean,
  would: AuthorizationResponse | undefined,
): ShadowResult {
  if (!would || would.reasons[0]?.rule === 'error') return 'undecidable';
  if (would.allowed === allowed) return 'unchanged';
  return allowed ? 'nowRefused' : 'nowAllowed';
}

/** What a policy in mode Shadow decided since that was last written. */
export class ShadowTally {
  #counts = zeroShadowCounts();

  /** Counts a decision that is recorded under `name`. */
  add(result: ShadowResult, name: string): void {
    const counts = this.#counts;
    counts.evaluated += 1;
    counts[result] += 1;
    if (result === 'unchanged') return;
    counts.lastDifferenceMs = Date.now();
    if (result !== 'undecidable') counts.examples[result] = newest(counts.examples[result], [name]);
  }

  /** Returns the counts and begins again at zero. */
  take(): ShadowCounts {
    const counts = this.#counts;
    this.#counts = zeroShadowCounts();
    return counts;
  }

  /** Adds counts that could not be written. */
  putBack({ lastDifferenceMs, examples, ...before }: ShadowCounts): void {
    const counts = this.#counts;
    for (const [name, count] of entriesOf(before)) counts[name] += count;
    for (const direction of ['nowRefused', 'nowAllowed'] as const) {
      counts.examples[direction] = newest(examples[direction], counts.examples[direction]);
    }
    const latest = counts.lastDifferenceMs ?? lastDifferenceMs;
    if (latest !== undefined) counts.lastDifferenceMs = latest;
  }
}
