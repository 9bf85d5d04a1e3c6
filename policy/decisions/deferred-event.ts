import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { Decision, Transaction } from '../../registry/kind.js';
import type { Store } from '../../registry/store.js';
import type { EventRateLimiter } from './rate-limit.js';
import { countDecisions } from './decision-count.js';
import { accountOf } from './record.js';
import type { AuthorizationResponse } from '../evaluate/decision-result.js';
import type { Series } from './series.js';
import { decisionPart } from './event.js';

/** Where decisions are written down. */
export interface RecorderDeps {
  readonly store: Store;
  readonly allowance: EventRateLimiter;
  readonly series: Series;
}

/** How one decision is written into a change, and what it is called. */
interface Entry {
  readonly name: string;
  join(tx: Transaction): Promise<void>;
}

/** What a change is made with: named and framed only where somebody makes that change. */
export class DeferredEvent implements Decision {
  readonly allowed: boolean;
  readonly reasons: Decision['reasons'];
  readonly #make: () => Entry;
  #made: Entry | undefined;

  constructor(
    books: RecorderDeps,
    question: AuthorizationAttributes,
    judgement: AuthorizationResponse,
  ) {
    this.allowed = judgement.allowed;
    this.reasons = judgement.reasons;
    this.#make = () => entry(books, question, judgement);
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

/**
 * An object of its own while its owner has some left, else one more of a series; what browsers and
 * Visitors change is about nobody and counted once it is done, since all of them share that series.
 */
function entry(
  { store, allowance, series }: RecorderDeps,
  question: AuthorizationAttributes,
  judgement: AuthorizationResponse,
): Entry {
  const { caller } = question;
  const about = accountOf(question, judgement.allowed);
  const isNobodys =
    about === undefined && (caller.type === 'Browser' || caller.type === 'Anonymous');
  if (
    !(isNobodys && judgement.allowed) &&
    allowance.take('changes', ownerOf(question, judgement.allowed))
  ) {
    const { name, account, part } = decisionPart(store, question, judgement);
    return {
      name,
      async join(tx) {
        tx.add(part);
        if (account !== undefined) await countDecisions(tx, store, account, 1, Date.now());
      },
    };
  }
  if (!isNobodys) return series.oneMore(question, judgement, about);
  return {
    name: series.nameFor(question, judgement),
    async join(tx) {
      tx.after(() => series.count(question, judgement));
    },
  };
}

/**
 * Whose allowance a decision counts against: its account's, else that of whoever asked; browsers
 * without an account are one.
 */
export function ownerOf(question: AuthorizationAttributes, allowed: boolean): string {
  const { caller } = question;
  const account = accountOf(question, allowed);
  if (account !== undefined) return account;
  if (caller.type === 'ClusterUser') return `ClusterUser ${caller.user}`;
  return caller.type === 'Client' ? `Client ${caller.client}` : caller.type;
}
