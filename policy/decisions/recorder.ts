import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { Decision } from '../../registry/kind.js';
import type { Log } from '../../observability/log.js';
import type { Store } from '../../registry/store.js';
import { EventRateLimiter } from './rate-limit.js';
import { isChange } from './mutating-actions.js';
import type { AuthorizationResponse } from '../evaluate/decision-result.js';
import { ownerOf, DeferredEvent, type RecorderDeps } from './deferred-event.js';
import { decisionPart } from './event.js';
import { Series } from './series.js';
import { EventWriter } from './event-writer.js';

/** Actions on no object that everybody may ask: what is permitted there says nothing of anybody. */
const open = new Set(['discovery', 'health', 'page', 'asset', 'provider']);

/**
 * Records what policy decides: changes in their own commit, refusals one by one, both while their
 * owner has some left, everything else in series (docs/design/api.md#recorded-decisions).
 */
export class Recorder {
  readonly #store: Store;
  readonly #log: Log;
  readonly #singles: EventWriter;
  readonly #series: Series;
  readonly #allowance = new EventRateLimiter();

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#singles = new EventWriter(store, log);
    this.#series = new Series(store, log);
  }

  /**
   * The decision with its record, as far as it has one; what cannot be recorded is decided all the
   * same.
   */
  note(question: AuthorizationAttributes, judgement: AuthorizationResponse): Decision {
    try {
      return this.#note(question, judgement);
    } catch (error) {
      this.#log.error({ err: error }, 'a decision could not be recorded');
      return judgement;
    }
  }

  #note(question: AuthorizationAttributes, judgement: AuthorizationResponse): Decision {
    const { record, caller, action } = question;
    if (record === 'never' || caller.type === 'System' || judgement.policy === '') return judgement;
    if (record === 'change') return new DeferredEvent(this.#books, question, judgement);
    if (judgement.allowed) {
      if (!question.kind && open.has(action)) return judgement;
      return isChange(this.#store.registry, action)
        ? new DeferredEvent(this.#books, question, judgement)
        : this.#counted(question, judgement);
    }
    if (record === 'allowed') return judgement;
    if (caller.type === 'Anonymous' || action === 'share')
      return this.#counted(question, judgement);
    if (!this.#singles.hasRoom() || !this.#allowance.take('refusals', ownerOf(question, false)))
      return {
        ...this.#counted(question, judgement),
        name: this.#series.nameFor(question, judgement),
      };
    const single = decisionPart(this.#store, question, judgement);
    this.#singles.add(single);
    return { ...judgement, name: single.name };
  }

  /** Writes what is still in memory. */
  async stop(): Promise<void> {
    await this.#singles.stop();
    await this.#series.stop();
  }

  get #books(): RecorderDeps {
    return { store: this.#store, allowance: this.#allowance, series: this.#series };
  }

  /** What is shared with a Client is named, since a Grant and a refusal say what they rest on. */
  #counted(question: AuthorizationAttributes, judgement: AuthorizationResponse): Decision {
    this.#series.count(question, judgement);
    return question.action === 'share'
      ? { ...judgement, name: this.#series.nameFor(question, judgement) }
      : judgement;
  }
}
