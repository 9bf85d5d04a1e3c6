import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Impact } from '../../kinds/policy/policy.js';
import { type DecisionObject, PolicyDecision } from '../../kinds/policy/policy-decision.js';
import type { LoadedEntities } from '../../registry/authorizer.js';
import type { AnyKind } from '../../registry/kind.js';
import { fromTimestamp } from '../../registry/schema/timestamp.js';
import { countFrom, listPages } from '../../registry/store/pager.js';
import type { Store } from '../../registry/store/store.js';
import { toAttributes } from '../decisions/record.js';
import type { CompiledPolicy, Engine } from '../engine/engine.js';
import type { AuthorizationResponse } from '../evaluate/decision-result.js';
import { compareDecisions, type ShadowResult } from './tally.js';

/** Names listed in each direction, decisions per page, and ms between two yields to the event loop. */
const limits = { nameCount: 1_000, pageSize: 250, turnMs: 4 };

/** Loads entities, given by type and id. */
type LoadEntities = (
  missing: readonly (readonly [type: string, id: string])[],
) => Promise<LoadedEntities>;

/**
 * Evaluates the recorded decisions against another text. Yields to the event loop every few
 * milliseconds, and counts the decisions that `limits.policyReplay` did not allow to evaluate, some of
 * which may have expired.
 */
export async function replay(
  engine: Engine,
  store: Store,
  text: string,
  load: LoadEntities,
): Promise<Impact> {
  const deadline = performance.now() + store.settings.limits.policyReplay;
  const outcome = new Outcome(
    await engine.compile('', text, 'recorded'),
    load,
    new Map(store.registry.kinds.map((kind) => [kind.kind, kind])),
  );
  for await (const page of listPages(store, PolicyDecision, limits.pageSize)) {
    for (const stored of page) {
      if (performance.now() > deadline) return outcome.impact(await countFrom(store, stored));
      if (outcome.shouldYield()) {
        await yieldToEventLoop();
        outcome.resume();
      }
      await outcome.add(stored.object as DecisionObject);
    }
  }
  return outcome.impact(0);
}

type Change = Exclude<ShadowResult, 'unchanged' | 'undecidable'>;

/** The outcome so far. */
class Outcome {
  readonly #policy: CompiledPolicy;
  readonly #load: LoadEntities;
  readonly #kinds: ReadonlyMap<string, AnyKind>;
  readonly #names: Record<Change, string[]> = { nowRefused: [], nowAllowed: [] };
  readonly #unnamed: Record<Change, number> = { nowRefused: 0, nowAllowed: 0 };
  readonly #counts = { unchanged: 0, undecidable: 0 };
  #replayed = 0;
  #turnStartedAt = performance.now();

  constructor(policy: CompiledPolicy, load: LoadEntities, kinds: ReadonlyMap<string, AnyKind>) {
    this.#policy = policy;
    this.#load = load;
    this.#kinds = kinds;
  }

  /** Returns whether it is time to yield to the event loop. */
  shouldYield(): boolean {
    return performance.now() - this.#turnStartedAt > limits.turnMs;
  }
  resume(): void {
    this.#turnStartedAt = performance.now();
  }

  /** Adds a decision; an attempt to sign in that failed was none. */
  async add(decision: DecisionObject): Promise<void> {
    if (decision.status.outcome) return;
    this.#replayed += 1;
    const result = compareDecisions(decision.status.allowed, await this.#replay(decision));
    if (result === 'unchanged' || result === 'undecidable') {
      this.#counts[result] += 1;
    } else if (this.#names[result].length === limits.nameCount) {
      this.#unnamed[result] += 1;
    } else {
      this.#names[result].push(decision.metadata.name);
    }
  }

  impact(notReached: number): Impact {
    const hasUnnamed = this.#unnamed.nowRefused + this.#unnamed.nowAllowed > 0;
    return {
      replayed: this.#replayed,
      ...this.#counts,
      ...this.#names,
      ...(hasUnnamed && { unnamed: this.#unnamed }),
      ...(notReached > 0 && { notReached }),
    };
  }

  async #replay(decision: DecisionObject): Promise<AuthorizationResponse | undefined> {
    const attributes = toAttributes(decision, this.#kinds);
    if (!attributes) return undefined;
    const missing = this.#policy.missingEntities(attributes);
    const entities = missing.length > 0 ? { entities: await this.#load(missing) } : {};
    return this.#policy.decide(
      { ...attributes, ...entities },
      fromTimestamp(decision.status.firstTimestamp),
    );
  }
}
