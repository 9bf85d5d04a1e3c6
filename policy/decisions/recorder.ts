import { phishingResistant } from '../../kinds/people/session/acr.js';
import { describeAlternatives } from '../../kinds/policy/alternative-words.js';
import type { Alternative } from '../../kinds/policy/alternatives.js';
import { isOperator } from '../../kinds/signin/operator-caller.js';
import { anyMethod, passkeyOnly } from '../../kinds/signin/recent-sign-in.js';
import type { Log } from '../../observability/log.js';
import type { AuthorizationAttributes, Failure, Recorded } from '../../registry/authorizer.js';
import type { Decision, Transaction } from '../../registry/kind.js';
import type { StepUp } from '../../registry/status/status.js';
import type { Store } from '../../registry/store/store.js';
import type { AuthorizationResponse } from '../evaluate/decision-result.js';
import { seriesEvent, singleEvent, writeEvent } from './event.js';
import { EventWriter } from './event-writer.js';
import { type Explain, Explanations } from './explanations.js';
import { isMutating } from './mutating-actions.js';
import { EventRateLimiter } from './rate-limit.js';
import { accountOf } from './record.js';

/** Actions that everyone may use; allowing them is not recorded. */
const publicActions = new Set(['discovery', 'health', 'page', 'asset', 'provider']);

/**
 * Evaluates a decision with the policy in mode Shadow. Returns the function that counts it once it is
 * recorded, or undefined if there is none.
 */
type Compare = (
  attributes: AuthorizationAttributes,
  response: AuthorizationResponse,
) => ((name: string) => void) | undefined;

/** How a recorder explains refusals and compares, and the milliseconds between its writes. */
interface RecorderOptions {
  readonly explain: Explain;
  readonly compare: Compare;
  readonly intervalMs?: number | undefined;
}

/**
 * Records decisions: changes in their own commit and refusals as single objects, both within the
 * rate limits; everything else in series (docs/design/api.md#recorded-decisions).
 */
export class Recorder {
  readonly #store: Store;
  readonly #log: Log;
  readonly #writer: EventWriter;
  readonly #limits: EventRateLimiter;
  readonly #explanations: Explanations;
  readonly #compare: Compare;
  readonly #refusals = new Map<string, number>();

  constructor(store: Store, log: Log, { explain, compare, intervalMs }: RecorderOptions) {
    this.#store = store;
    this.#log = log;
    this.#explanations = new Explanations(explain);
    this.#compare = compare;
    this.#limits = new EventRateLimiter(store.settings.limits);
    this.#writer = new EventWriter(store, log, intervalMs);
  }

  /**
   * Returns the decision with its record, if it has one. Failing to record does not change the
   * decision.
   */
  record(
    attributes: AuthorizationAttributes,
    response: AuthorizationResponse,
    recorded?: Recorded,
  ): Decision {
    try {
      return this.#recordDecision(attributes, response, recorded);
    } catch (error) {
      this.#log.error({ err: error }, 'decision could not be recorded');
      return response;
    }
  }

  #recordDecision(
    attributes: AuthorizationAttributes,
    response: AuthorizationResponse,
    recorded: Recorded | undefined,
  ): Decision {
    const { caller, action, kind } = attributes;
    if (caller.type === 'System' || response.policy === '') return response;
    if (recorded !== 'change') {
      if (!response.allowed) {
        return recorded === 'permission' ? response : this.#recordRefusal(attributes, response);
      }
      if (!kind && publicActions.has(action)) return response;
      if (!isMutating(this.#store.registry, action)) {
        return this.#countInSeries(attributes, response);
      }
    }
    return new ChangeDecision(response, {
      createRecord: () => this.#changeRecord(attributes, response),
      noteFailure: (failure) => this.#writer.countFailure(attributes, response, failure),
    });
  }

  /** How often each rule refused something since the start, without reads of operators. */
  get refusals(): ReadonlyMap<string, number> {
    return this.#refusals;
  }

  /** Counts a refusal by the first rule that it names. */
  #countRefusal({ caller, action, kind }: AuthorizationAttributes, { reasons }: Decision): void {
    const isRead = kind !== undefined && !isMutating(this.#store.registry, action);
    if (isRead && isOperator(caller)) return;
    const rule = reasons[0]?.rule ?? 'default';
    this.#refusals.set(rule, (this.#refusals.get(rule) ?? 0) + 1);
  }

  /** Writes what is still in memory. */
  stop(): Promise<void> {
    return this.#writer.stop();
  }

  #recordRefusal(attributes: AuthorizationAttributes, response: AuthorizationResponse): Decision {
    this.#countRefusal(attributes, response);
    if (attributes.caller.type === 'Anonymous' || attributes.action === 'share') {
      return this.#countInSeries(attributes, response);
    }
    if (!this.#writer.hasRoom || !this.#limits.takeRefusal(rateLimitKey(attributes, false))) {
      return withName(response, this.#addToSeries(attributes, response), attributes);
    }
    const explained = this.#explained(attributes, response);
    const event = singleEvent(attributes, explained);
    this.#writer.add(event);
    this.#compare(attributes, response)?.(event.name);
    return withName(explained, event.name, attributes);
  }

  /** Names the decision on a shared scope, since a Grant and a refusal refer to it. */
  #countInSeries(attributes: AuthorizationAttributes, response: AuthorizationResponse): Decision {
    const isNamed = attributes.action === 'share';
    const counted = isNamed ? this.#explained(attributes, response) : response;
    const name = this.#addToSeries(attributes, counted);
    return isNamed ? withName(counted, name, attributes) : counted;
  }

  #addToSeries(
    attributes: AuthorizationAttributes,
    response: AuthorizationResponse,
  ): string | undefined {
    const name = this.#writer.countInSeries(attributes, response);
    if (name !== undefined) this.#compare(attributes, response)?.(name);
    return name;
  }

  /**
   * Returns a refusal with what would have permitted it. Only refusals that are limited in number,
   * concern one person and one scope, or ask for it, are explained.
   */
  #explained(
    attributes: AuthorizationAttributes,
    response: AuthorizationResponse,
  ): AuthorizationResponse {
    const alternatives = response.allowed
      ? []
      : this.#explanations.of(attributes, response.policy, rateLimitKey(attributes, false));
    return alternatives.length > 0 ? { ...response, alternatives } : response;
  }

  /**
   * Returns a decision that is not recorded, with the Groups that would have permitted it if the
   * question asks for them.
   */
  explain(attributes: AuthorizationAttributes, response: AuthorizationResponse): Decision {
    if (!attributes.explain || response.policy === '') return response;
    const { alternatives = [] } = this.#explained(attributes, response);
    const changes = alternatives.flatMap((alternative) => alternative.changes);
    return {
      ...response,
      groups: changes.flatMap((change) => (change.fact === 'Group' ? change.value! : [])),
    };
  }

  /**
   * Returns an event of its own within the rate limit, which the commit of the change writes; else one
   * of a series, which is counted after it, unless a refusal or an object names it. Permitted changes by
   * browsers and anonymous callers without an account are always counted after their commits, since all
   * of them share one series.
   */
  #changeRecord(
    attributes: AuthorizationAttributes,
    response: AuthorizationResponse,
  ): ChangeRecord {
    const { type } = attributes.caller;
    const account = accountOf(attributes, response.allowed);
    const hasNoAccount = account === undefined && (type === 'Browser' || type === 'Anonymous');
    const isSingle =
      !(hasNoAccount && response.allowed) &&
      this.#limits.take('changes', rateLimitKey(attributes, response.allowed));
    const event = isSingle
      ? singleEvent(attributes, this.#explained(attributes, response))
      : seriesEvent(attributes, response, account);
    const count = this.#compare(attributes, response);
    return {
      name: event.name,
      recordIn: async (tx, isNamed) => {
        const isShown = isNamed || !response.allowed;
        if (isSingle || (isShown && !hasNoAccount)) {
          await writeEvent(tx, this.#store, event);
        } else {
          tx.after(() => this.#writer.countInSeries(attributes, response, account));
        }
        if (count) tx.after(() => count(event.name));
        if (!response.allowed) tx.after(() => this.#countRefusal(attributes, response));
      },
    };
  }
}

/** The name of a recorded change, and how it is written. */
interface ChangeRecord {
  readonly name: string;
  /** `isNamed`: an object will name it, so that it must exist with the commit. */
  recordIn(tx: Transaction, isNamed: boolean): Promise<void>;
}

/** How a change is recorded if it is made, and if it fails. */
interface ChangeRecords {
  readonly createRecord: () => ChangeRecord;
  readonly noteFailure: (failure: Failure) => void;
}

/** The decision on a change; it is named and recorded only if the change is made. */
class ChangeDecision implements Decision {
  readonly allowed: boolean;
  readonly reasons: Decision['reasons'];
  readonly noteFailure: (failure: Failure) => void;
  readonly #createRecord: () => ChangeRecord;
  #changeRecord: ChangeRecord | undefined;
  #isNamed = false;

  constructor({ allowed, reasons }: Decision, { createRecord, noteFailure }: ChangeRecords) {
    this.allowed = allowed;
    this.reasons = reasons;
    this.#createRecord = createRecord;
    this.noteFailure = noteFailure;
  }

  /** The name if it was read; only then an object of that name exists. */
  get written(): string | undefined {
    return this.#changeRecord?.name;
  }
  get name(): string {
    this.#isNamed = true;
    return (this.#changeRecord ??= this.#createRecord()).name;
  }
  recordIn(tx: Transaction): Promise<void> {
    return (this.#changeRecord ??= this.#createRecord()).recordIn(tx, this.#isNamed);
  }
}

function withName(
  response: AuthorizationResponse,
  name: string | undefined,
  { caller }: AuthorizationAttributes,
): Decision {
  const { alternatives = [] } = response;
  const hint = describeAlternatives(alternatives);
  const stepUp = caller.type === 'Account' && stepUpOf(alternatives, caller.methods);
  return name === undefined
    ? response
    : { ...response, name, ...(hint && { hint }), ...(stepUp && { stepUp }) };
}

/**
 * Returns the sign-in that is an alternative by itself: the easiest, if there are several. A newer one
 * is found to suffice with the methods of the `former` one: if that was by passkey, another may not.
 */
function stepUpOf(
  alternatives: readonly Alternative[],
  former: readonly string[] = [],
): StepUp | undefined {
  const signIns = alternatives.flatMap(({ changes: [first, ...others] }) =>
    first?.fact === 'SignIn' && others.length === 0 ? [first] : [],
  );
  if (signIns.length === 0) return undefined;
  if (signIns[0]!.value === 'Passkey') return { acr: phishingResistant, methods: passkeyOnly };
  return { methods: former.includes('Passkey') ? passkeyOnly : anyMethod };
}

/**
 * Returns the key of the rate limit: the account, else the caller. All browsers without an account
 * share one.
 */
function rateLimitKey(attributes: AuthorizationAttributes, allowed: boolean): string {
  const { caller } = attributes;
  const account = accountOf(attributes, allowed);
  if (account !== undefined) return account;
  if (caller.type === 'ClusterUser') return `ClusterUser ${caller.user}`;
  return caller.type === 'Client' ? `Client ${caller.client}` : caller.type;
}
