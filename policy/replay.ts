import type { AnyKind } from '../registry/kind.js';
import type { Store } from '../registry/store.js';
import { fromTimestamp } from '../registry/timestamp.js';
import { listPages } from '../registry/pager.js';
import { PolicyDecision, type DecisionObject } from '../kinds/policy/policy-decision.js';
import type { Engine } from './engine.js';
import { questionOf } from './decisions/record.js';
import type { AuthorizationResponse } from './evaluate/decision-result.js';
import type { Impact } from '../kinds/policy/policy.js';

/**
 * Names told of those that flip, decisions read together, and milliseconds: between two turns of
 * others, and for all.
 */
const bounds = { names: 1_000, page: 250, turn: 4, whole: 20_000 };

type Attempt = Awaited<ReturnType<Engine['attempt']>>;

/**
 * What the decisions there are would be under a text; gives others their turn every few
 * milliseconds, and says how many it did not come to.
 */
export async function replay(
  engine: Engine,
  store: Store,
  text: string,
  whole = bounds.whole,
): Promise<Impact> {
  const end = performance.now() + whole;
  const attempt = await engine.attempt('', text);
  const tally = new Tally(attempt, new Map(store.registry.kinds.map((kind) => [kind.kind, kind])));
  let notReached = 0;
  for await (const page of listPages(store, PolicyDecision, bounds.page))
    for (const stored of page) {
      if (notReached > 0 || performance.now() > end) {
        notReached += 1;
        continue;
      }
      if (tally.due()) {
        await turn();
        tally.resume();
      }
      tally.add(stored.object as DecisionObject);
    }
  return tally.impact(notReached);
}

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** What came out so far. */
class Tally {
  readonly #attempt: Attempt;
  readonly #kinds: ReadonlyMap<string, AnyKind>;
  readonly #refused: string[] = [];
  readonly #allowed: string[] = [];
  #replayed = 0;
  #unchanged = 0;
  #undecidable = 0;
  #unnamed = { nowRefused: 0, nowAllowed: 0 };
  #turn = performance.now();

  constructor(attempt: Attempt, kinds: ReadonlyMap<string, AnyKind>) {
    this.#attempt = attempt;
    this.#kinds = kinds;
  }

  /** Whether it has gone on for long enough. */
  due(): boolean {
    return performance.now() - this.#turn > bounds.turn;
  }
  resume(): void {
    this.#turn = performance.now();
  }

  add(decision: DecisionObject): void {
    this.#replayed += 1;
    const judgement = this.#judge(decision);
    const before = decision.status.allowed;
    if (!judgement || judgement.reasons[0]?.rule === 'error') this.#undecidable += 1;
    else if (judgement.allowed === before) this.#unchanged += 1;
    else if (before) this.#name(this.#refused, 'nowRefused', decision.metadata.name);
    else this.#name(this.#allowed, 'nowAllowed', decision.metadata.name);
  }

  impact(notReached: number): Impact {
    const more = this.#unnamed.nowRefused + this.#unnamed.nowAllowed > 0;
    return {
      replayed: this.#replayed,
      unchanged: this.#unchanged,
      nowRefused: this.#refused,
      nowAllowed: this.#allowed,
      undecidable: this.#undecidable,
      ...(more && { unnamed: this.#unnamed }),
      ...(notReached > 0 && { notReached }),
    };
  }

  #judge(decision: DecisionObject): AuthorizationResponse | undefined {
    const question = questionOf(decision, this.#kinds);
    return question && this.#attempt(question, fromTimestamp(decision.status.firstTimestamp));
  }

  #name(names: string[], which: 'nowRefused' | 'nowAllowed', name: string): void {
    if (names.length < bounds.names) names.push(name);
    else this.#unnamed[which] += 1;
  }
}
