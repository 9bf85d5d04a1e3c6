import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { Decision, Transaction } from '../../registry/kind.js';
import type { Log } from '../../observability/log.js';
import type { Store } from '../../registry/store.js';
import type { AuthorizationResponse } from '../evaluate/decision-result.js';
import { seriesEvent, singleEvent, writeEvent } from './event.js';
import { EventWriter } from './event-writer.js';
import { isChange } from './mutating-actions.js';
import { EventRateLimiter } from './rate-limit.js';
import { accountOf } from './record.js';

/** Actions on no object that everybody may ask: what is permitted there says nothing of anyone. */
const open = new Set(['discovery', 'health', 'page', 'asset', 'provider']);

/**
 * Records what policy decides: changes in their own commit, refusals one by one, both while their
 * owner has some left, everything else in series (docs/design/api.md#recorded-decisions).
 */
export class Recorder {
  readonly #store: Store;
  readonly #log: Log;
  readonly #writer: EventWriter;
  readonly #limits = new EventRateLimiter();

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#writer = new EventWriter(store, log);
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
    const { record, caller, action, kind } = question;
    if (record === 'never' || caller.type === 'System' || judgement.policy === '') return judgement;
    if (record !== 'change') {
      if (!judgement.allowed)
        return record === 'allowed' ? judgement : this.#refused(question, judgement);
      if (!kind && open.has(action)) return judgement;
      if (!isChange(this.#store.registry, action)) return this.#counted(question, judgement);
    }
    return new ChangeDecision(judgement, () => this.#ofChange(question, judgement));
  }

  /** Writes what is still in memory. */
  stop(): Promise<void> {
    return this.#writer.stop();
  }

  #refused(question: AuthorizationAttributes, judgement: AuthorizationResponse): Decision {
    if (question.caller.type === 'Anonymous' || question.action === 'share')
      return this.#counted(question, judgement);
    if (!this.#writer.hasRoom || !this.#limits.takeRefusal(ownerOf(question, false)))
      return named(judgement, this.#writer.count(question, judgement));
    const event = singleEvent(question, judgement);
    this.#writer.add(event);
    return named(judgement, event.name);
  }

  /** What is shared with a Client is named, since a Grant and a refusal say what they rest on. */
  #counted(question: AuthorizationAttributes, judgement: AuthorizationResponse): Decision {
    const name = this.#writer.count(question, judgement);
    return question.action === 'share' ? named(judgement, name) : judgement;
  }

  /**
   * An object of its own while its owner has some left, else one more of a series. What browsers
   * and Anonymous change is about no one and counted once it is done, since all of them share that
   * series.
   */
  #ofChange(question: AuthorizationAttributes, judgement: AuthorizationResponse): ChangeRecord {
    const { type } = question.caller;
    const account = accountOf(question, judgement.allowed);
    const isNobodys = account === undefined && (type === 'Browser' || type === 'Anonymous');
    const isSingle =
      !(isNobodys && judgement.allowed) &&
      this.#limits.take('changes', ownerOf(question, judgement.allowed));
    const event = isSingle
      ? singleEvent(question, judgement)
      : seriesEvent(question, judgement, account);
    return {
      name: event.name,
      join: async (tx) => {
        if (isSingle || !isNobodys) await writeEvent(tx, this.#store, event);
        else tx.after(() => this.#writer.count(question, judgement));
      },
    };
  }
}

/** How one decision is written into a change, and what it is called. */
interface ChangeRecord {
  readonly name: string;
  join(tx: Transaction): Promise<void>;
}

/** What a change is made with: named and recorded only where someone makes that change. */
class ChangeDecision implements Decision {
  readonly allowed: boolean;
  readonly reasons: Decision['reasons'];
  readonly #make: () => ChangeRecord;
  #made: ChangeRecord | undefined;

  constructor({ allowed, reasons }: Decision, make: () => ChangeRecord) {
    this.allowed = allowed;
    this.reasons = reasons;
    this.#make = make;
  }

  /** Its name, where it was asked for: only then there is an object of that name. */
  get written(): string | undefined {
    return this.#made?.name;
  }
  get name(): string {
    return (this.#made ??= this.#make()).name;
  }
  join(tx: Transaction): Promise<void> {
    return (this.#made ??= this.#make()).join(tx);
  }
}

const named = (judgement: Decision, name: string | undefined): Decision =>
  name === undefined ? judgement : { ...judgement, name };

/**
 * Whose allowance a decision counts against: its account's, else that of whoever asked; browsers
 * without an account are one.
 */
function ownerOf(question: AuthorizationAttributes, allowed: boolean): string {
  const { caller } = question;
  const account = accountOf(question, allowed);
  if (account !== undefined) return account;
  if (caller.type === 'ClusterUser') return `ClusterUser ${caller.user}`;
  return caller.type === 'Client' ? `Client ${caller.client}` : caller.type;
}
