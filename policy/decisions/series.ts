import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { Transaction } from '../../registry/kind.js';
import { nameOf } from '../../security/keyring.js';
import type { Log } from '../../observability/log.js';
import type { Store } from '../../registry/store.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { Account } from '../../kinds/account/account.js';
import { PolicyDecision, type DecisionObject } from '../../kinds/policy/policy-decision.js';
import { accountOf, recordOf } from './record.js';
import type { AuthorizationResponse } from '../evaluate/decision-result.js';
import { seriesName } from './names.js';
import { addToSeries } from './series-counter.js';

/** Series held in memory, and written in one commit. */
const max = { held: 10_000, together: 20 };

/**
 * Milliseconds between two looks at what is to be written, and between two writes of one series:
 * the busier, the rarer.
 */
const waits = { look: 5_000, first: 5_000, longest: 300_000 };

/** Decisions of one kind, counted since they were last written. */
interface Counted {
  readonly name: string;
  readonly spec: DecisionObject['spec'];
  readonly internal: DecisionObject['internal'];
  judgement: AuthorizationResponse;
  count: number;
  first: number;
  last: number;
  wait: number;
  due: number;
}

/** The series a decision belongs to. */
const keyOf = (
  question: AuthorizationAttributes,
  { policy, allowed }: AuthorizationResponse,
  about?: string,
): string =>
  `${whose(question, about)} ${question.action} ${question.kind?.kind ?? ''} ${policy} ${allowed ? '+' : '-'}`;

/**
 * Who asks, as far as series tell them apart: browsers come and go, so all of them are one, and it
 * is about nobody but where a change is.
 */
function whose(
  { caller, facts, action }: AuthorizationAttributes,
  about: string | undefined,
): string {
  if (action === 'share' || action === 'signIn')
    return `Account ${String(facts?.account ?? (caller.type === 'Account' ? caller.account : ''))} ${String(facts?.scope ?? '')} ${String(facts?.client ?? '')}`;
  switch (caller.type) {
    case 'Account':
      return `Account ${caller.account}`;
    case 'ClusterUser':
      return `ClusterUser ${caller.user}`;
    case 'Client':
      return `Client ${caller.client}`;
    default:
      return about === undefined ? caller.type : `${caller.type} ${about}`;
  }
}

/** Whether many browsers share a series. */
const isOfMany = (key: string): boolean => key.startsWith('Browser ');

/** The account whose series it is. */
const accountIn = (
  key: string,
  question: AuthorizationAttributes,
  { allowed }: AuthorizationResponse,
  about: string | undefined,
): string | undefined => (isOfMany(key) ? about : accountOf(question, allowed));

/**
 * Decisions counted in memory, one object a series, whose count and last time move in the
 * background.
 */
export class Series {
  readonly #store: Store;
  readonly #log: Log;
  readonly #held = new Map<string, Counted>();
  readonly #names = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #dropped = 0;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** Counts one; nothing is looked at twice in a series that is held. */
  count(question: AuthorizationAttributes, judgement: AuthorizationResponse): void {
    const key = keyOf(question, judgement);
    let counted = this.#held.get(key);
    if (!counted) {
      if (this.#held.size >= max.held && !this.#makeRoom()) {
        this.#dropped += 1;
        return;
      }
      this.#held.set(key, (counted = begun(key, question, judgement)));
    }
    const now = Date.now();
    if (counted.count === 0) counted.first = now;
    counted.count += 1;
    counted.last = now;
    counted.judgement = judgement;
    this.#timer ??= setInterval(() => {
      this.#flushing = this.#flushing.then(() => this.#flush(performance.now()));
    }, waits.look).unref();
  }

  /** What a series is called; `about` is the account that a change is about. */
  nameFor(
    question: AuthorizationAttributes,
    judgement: AuthorizationResponse,
    about?: string,
  ): string {
    return this.#named(keyOf(question, judgement, about), question, judgement, about);
  }

  /**
   * One more of a series: what it is called, and how it is counted in the commit of the change
   * itself.
   */
  oneMore(
    question: AuthorizationAttributes,
    judgement: AuthorizationResponse,
    about: string | undefined,
  ): { readonly name: string; join(tx: Transaction): Promise<void> } {
    const key = keyOf(question, judgement, about);
    const name = this.#named(key, question, judgement, about);
    const now = Date.now();
    return {
      name,
      join: (tx) =>
        addToSeries(tx, name, now, () =>
          add(tx, begun(key, question, judgement, about), {
            count: 1,
            first: now,
            last: now,
            judgement,
          }),
        ),
    };
  }

  #named(
    key: string,
    question: AuthorizationAttributes,
    judgement: AuthorizationResponse,
    about?: string,
  ): string {
    let name = this.#names.get(key);
    if (name === undefined) {
      if (this.#names.size >= max.held) this.#names.clear();
      this.#names.set(
        key,
        (name = seriesName(accountIn(key, question, judgement, about), nameOf(key))),
      );
    }
    return name;
  }

  /** Writes everything there is. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushing;
    await this.#flush(Infinity);
  }

  /** Lets go of what is written already. */
  #makeRoom(): boolean {
    for (const [key, { count }] of this.#held) if (count === 0) this.#held.delete(key);
    return this.#held.size < max.held;
  }

  async #flush(now: number): Promise<void> {
    if (this.#dropped > 0) {
      this.#log.warn({ dropped: this.#dropped }, 'decisions were not counted: too many series');
      this.#dropped = 0;
    }
    const due: Counted[] = [];
    for (const [key, counted] of this.#held) {
      if (counted.due > now) continue;
      if (counted.count > 0) due.push(counted);
      else this.#held.delete(key);
    }
    for (let i = 0; i < due.length; i += max.together)
      await this.#write(due.slice(i, i + max.together), now);
  }

  /** One commit of some series; what was counted meanwhile, or could not be written, stays. */
  async #write(some: readonly Counted[], now: number): Promise<void> {
    const written = some.map(({ count, first, last, judgement }) => ({
      count,
      first,
      last,
      judgement,
    }));
    try {
      await this.#store.change(this.#store.systemCall(), async (tx) => {
        for (const [i, counted] of some.entries()) await add(tx, counted, written[i]!);
      });
    } catch (error) {
      return void this.#log.warn({ err: error }, 'decisions could not be recorded yet');
    }
    for (const [i, counted] of some.entries()) {
      counted.count -= written[i]!.count;
      counted.first = counted.last;
      counted.due = now + counted.wait;
      counted.wait = Math.min(counted.wait * 2, waits.longest);
    }
  }
}

function begun(
  key: string,
  question: AuthorizationAttributes,
  judgement: AuthorizationResponse,
  about?: string,
): Counted {
  const {
    spec: { account: _, principal, resource, ...spec },
    internal,
  } = recordOf(question, judgement);
  const account = accountIn(key, question, judgement, about);
  return {
    name: seriesName(account, nameOf(key)),
    internal,
    spec: {
      ...(account !== undefined && { account }),
      principal: isOfMany(key) ? 'Browser' : principal,
      ...(resource && {
        resource: {
          kind: resource.kind,
          ...(question.action === 'signIn' && { name: resource.name }),
          ...(resource.subresource && { subresource: resource.subresource }),
        },
      }),
      ...spec,
    },
    judgement,
    count: 0,
    first: 0,
    last: 0,
    wait: waits.first,
    due: 0,
  };
}

/**
 * Adds to the object of a series, or makes it; for an account that is gone meanwhile nothing is
 * made.
 */
async function add(
  tx: Transaction,
  { name, spec, internal }: Counted,
  { count, first, last, judgement }: Pick<Counted, 'count' | 'first' | 'last' | 'judgement'>,
): Promise<void> {
  const { allowed } = judgement;
  const reasons = judgement.reasons.map((reason) => ({ ...reason }));
  if (await tx.get(PolicyDecision, name)) {
    await tx.update(PolicyDecision, name, ({ status }) => {
      status.count += count;
      status.reasons = reasons;
      status.lastTimestamp = toTimestamp(last);
    });
    return;
  }
  if (spec.account !== undefined && !(await tx.get(Account, spec.account))) return;
  await tx.create(PolicyDecision, {
    metadata: { name },
    spec: structuredClone(spec),
    internal,
    status: {
      allowed,
      reasons,
      count,
      firstTimestamp: toTimestamp(first),
      lastTimestamp: toTimestamp(last),
    },
  });
}
