import type { Alternative } from '../../kinds/policy/alternatives.js';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import { minuteMs } from '../../registry/schema/units.js';
import { BoundedMap } from '../../security/bounded-map.js';
import type { SearchBudget } from '../explain/explain.js';

/**
 * How many explanations are kept and for how long, and how many evaluations one search takes, and
 * all searches of one caller in a period: those of one request, and of one after another.
 */
const limits = {
  kept: 1_000,
  keptMs: 5 * minuteMs,
  search: 250,
  caller: 4_000,
  periodMs: 10_000,
  callers: 10_000,
};

/** Returns what would have permitted a refused request; counts the evaluations in `budget`. */
export type Explain = (
  attributes: AuthorizationAttributes,
  budget: SearchBudget,
) => readonly Alternative[];

/**
 * Explains refusals. One that was explained to the same caller with the same facts is not searched
 * again, since each GET of a page decides again; the key has the policy.
 */
export class Explanations {
  readonly #explain: Explain;
  readonly #kept = new BoundedMap<string, { found: readonly Alternative[]; until: number }>(
    limits.kept,
  );
  /** The evaluations of this period by caller. */
  readonly #spent = new BoundedMap<string, number>(limits.callers);
  #periodEnd = 0;

  constructor(explain: Explain) {
    this.#explain = explain;
  }

  /**
   * Returns the alternatives to a refusal by `policy`. `owner` is whose budget the search counts
   * against; `now` is in milliseconds of a monotonic clock.
   */
  of(
    attributes: AuthorizationAttributes,
    policy: string,
    owner: string,
    now = performance.now(),
  ): readonly Alternative[] {
    const key = keyOf(attributes, policy);
    const kept = key === undefined ? undefined : this.#kept.get(key);
    if (kept && kept.until > now) return kept.found;
    const spent = this.#spentBy(owner, now);
    const most = Math.min(limits.search, limits.caller - spent);
    if (most <= 0) return [];
    const budget = { evaluations: most };
    const found = this.#explain(attributes, budget);
    this.#spent.set(owner, spent + most - budget.evaluations);
    const wasCut = most < limits.search && budget.evaluations === 0;
    if (key !== undefined && !wasCut) this.#kept.set(key, { found, until: now + limits.keptMs });
    return found;
  }

  #spentBy(owner: string, now: number): number {
    if (now >= this.#periodEnd) {
      this.#spent.clear();
      this.#periodEnd = now + limits.periodMs;
    }
    return this.#spent.get(owner) ?? 0;
  }
}

/** Returns equal keys for equal questions; undefined for one about an object, which may change. */
function keyOf(attributes: AuthorizationAttributes, policy: string): string | undefined {
  if (attributes.kind) return undefined;
  const { caller, action, name, owner, entities, explain } = attributes;
  const { auditID: _, userAgent: __, ...facts } = attributes.facts ?? {};
  const loaded = entities && [...entities];
  return JSON.stringify([policy, caller, action, name, owner, facts, loaded, explain]);
}
