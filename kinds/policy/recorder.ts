import type { Question } from '../../registry/decision.js';
import type { Decision, Part } from '../../registry/kind.js';
import type { Log } from '../../registry/observe.js';
import type { Store } from '../../registry/store.js';
import { isChange } from './changes.js';
import type { Judgement } from './judge.js';
import { decisionPart } from './single.js';
import { Series } from './series.js';
import { Singles } from './singles.js';

/** Actions on no object that everybody may ask: what is permitted there says nothing of anybody. */
const open = new Set(['discovery', 'health', 'page', 'asset', 'provider']);

/** What a change is made with: named and framed only where somebody makes that change. */
class Pending implements Decision {
  readonly allowed: boolean;
  readonly reasons: Decision['reasons'];
  readonly #make: () => { name: string; part: Part };
  #made: { name: string; part: Part } | undefined;

  constructor({ allowed, reasons }: Judgement, make: () => { name: string; part: Part }) {
    this.allowed = allowed;
    this.reasons = reasons;
    this.#make = make;
  }

  get name(): string { return (this.#made ??= this.#make()).name }
  get part(): Part { return (this.#made ??= this.#make()).part }
}

/** Records what policy decides (`api.md` 7): changes in their own commit, refusals one by one, everything else in series; nothing waits for it. */
export class Recorder {
  readonly #store: Store;
  readonly #log: Log;
  readonly #singles: Singles;
  readonly #series: Series;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#singles = new Singles(store, log);
    this.#series = new Series(store, log);
  }

  /** The decision with its record, as far as it has one; what cannot be recorded is decided all the same. */
  note(question: Question, judgement: Judgement): Decision {
    try {
      return this.#note(question, judgement);
    } catch (error) {
      this.#log.error({ err: error }, 'a decision could not be recorded');
      return judgement;
    }
  }

  #note(question: Question, judgement: Judgement): Decision {
    const { record, caller, action } = question;
    if (record === 'never' || caller.type === 'System' || judgement.policy === '') return judgement;
    if (record === 'change') return this.#pending(question, judgement);
    if (judgement.allowed) {
      if (!question.kind && open.has(action)) return judgement;
      return isChange(this.#store.registry, action) ? this.#pending(question, judgement) : this.#counted(question, judgement);
    }
    if (record === 'allowed') return judgement;
    if (caller.type === 'Visitor' || action === 'share' || !this.#singles.take(question)) return this.#counted(question, judgement);
    const single = this.#single(question, judgement);
    this.#singles.add(single.part);
    return { ...judgement, name: single.name };
  }

  /** Writes what is still in memory. */
  async stop(): Promise<void> {
    await this.#singles.stop();
    await this.#series.stop();
  }

  #pending(question: Question, judgement: Judgement): Decision { return new Pending(judgement, () => this.#single(question, judgement)) }
  #single(question: Question, judgement: Judgement): { name: string; part: Part } { return decisionPart(this.#store, question, judgement) }

  #counted(question: Question, judgement: Judgement): Decision {
    this.#series.count(question, judgement);
    return judgement;
  }
}
