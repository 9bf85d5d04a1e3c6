import {
  Policy,
  type PolicyObject,
  readLatestShadow,
  shadowName,
} from '../../kinds/policy/policy.js';
import { addToShadow, isAgreed } from '../../kinds/policy/shadow-status.js';
import type { Log } from '../../observability/log.js';
import type { AuthorizationAttributes, LoadedEntities } from '../../registry/authorizer.js';
import type { Awaitable } from '../../registry/kind.js';
import type { Store } from '../../registry/store/store.js';
import type { CompiledPolicy, Engine } from '../engine/engine.js';
import type { AuthorizationResponse } from '../evaluate/decision-result.js';
import { compareDecisions, type ShadowResult, ShadowTally } from './tally.js';

/** How often counts are written by default, in ms, and the most decisions that wait for entities. */
const defaults = { intervalMs: 5_000, maxWaiting: 1_000 };

/** Counts a decision once it is recorded under a name. */
type Count = (name: string) => void;

/** The policy in mode Shadow that this replica compares. */
interface RunningShadow {
  readonly object: PolicyObject;
  readonly policy: CompiledPolicy;
  readonly tally: ShadowTally;
}

/** How entities are loaded, and the milliseconds between writes of the counts. */
interface ShadowOptions {
  readonly load: (
    missing: readonly (readonly [type: string, id: string])[],
  ) => Promise<LoadedEntities>;
  readonly intervalMs?: number | undefined;
}

/**
 * Evaluates each recorded decision with the policy in mode Shadow too, if there is one, and writes
 * what would differ to its status (docs/design/policy.md#shadow). It never changes an answer.
 */
export class ShadowController {
  /** Decisions that were evaluated here since the start, by result. */
  readonly counts: Record<ShadowResult, number> = {
    unchanged: 0,
    nowRefused: 0,
    nowAllowed: 0,
    undecidable: 0,
  };
  readonly #engine: Engine;
  readonly #store: Store;
  readonly #log: Log;
  readonly #load: ShadowOptions['load'];
  readonly #intervalMs: number;
  #running: RunningShadow | undefined;
  #latest: PolicyObject | undefined;
  #changing: Promise<void> = Promise.resolve();
  #reading: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe: () => void = () => {};
  #waiting = 0;

  constructor(
    engine: Engine,
    store: Store,
    log: Log,
    { load, intervalMs = defaults.intervalMs }: ShadowOptions,
  ) {
    this.#engine = engine;
    this.#store = store;
    this.#log = log;
    this.#load = load;
    this.#intervalMs = intervalMs;
  }

  /**
   * Follows the policies of the store. The one in mode Shadow is compared a moment later: no start
   * waits for its text to be parsed.
   */
  start(): void {
    this.#watch();
    this.#timer = setInterval(() => void this.#flush(this.#running), this.#intervalMs).unref();
    this.#reading = this.#readLatest();
  }

  /** Compares with this policy from now on, or ends that if a newer policy replaced it. */
  apply(object: PolicyObject): Promise<void> {
    if (isOlder(object, this.#latest)) return this.#changing;
    this.#latest = object;
    return (this.#changing = this.#changing.then(() => this.#change(object)));
  }

  /**
   * Evaluates a request that the active policy decided. Returns the function that counts it, or
   * undefined if nothing is compared. Never throws.
   */
  compare(
    attributes: AuthorizationAttributes,
    { allowed, policy: decidedBy }: AuthorizationResponse,
  ): Count | undefined {
    const running = this.#running;
    if (!running || running.object.status.shadow!.comparedWith !== decidedBy) return undefined;
    const { policy, tally } = running;
    const add = (would: AuthorizationResponse | undefined, name: string): void => {
      const result = compareDecisions(allowed, would);
      this.counts[result] += 1;
      tally.add(result, name);
    };
    const would = this.#decide(policy, attributes);
    return would instanceof Promise
      ? (name) => void would.then((loaded) => add(loaded, name))
      : (name) => add(would, name);
  }

  /** Writes what was counted. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#unsubscribe();
    await this.#reading;
    await this.#changing;
    await this.#flush(this.#running);
    this.#running = undefined;
  }

  /** Decides, or returns undefined if that fails. */
  #decide(
    policy: CompiledPolicy,
    attributes: AuthorizationAttributes,
  ): Awaitable<AuthorizationResponse | undefined> {
    try {
      const missing = policy.mentionsEntities ? policy.missingEntities(attributes) : [];
      return missing.length > 0
        ? this.#decideLoaded(policy, attributes, missing)
        : policy.decide(attributes);
    } catch (error) {
      this.#log.debug({ err: error }, 'the policy in mode Shadow could not be evaluated');
      return undefined;
    }
  }

  /** Decides after the entities were loaded; undefined if they cannot be, or too many wait. */
  async #decideLoaded(
    policy: CompiledPolicy,
    attributes: AuthorizationAttributes,
    missing: readonly (readonly [type: string, id: string])[],
  ): Promise<AuthorizationResponse | undefined> {
    if (this.#waiting >= defaults.maxWaiting) return undefined;
    this.#waiting += 1;
    const timeMs = Date.now();
    try {
      const entities = new Map([...(await this.#load(missing)), ...(attributes.entities ?? [])]);
      return policy.decide({ ...attributes, entities }, timeMs);
    } catch (error) {
      this.#log.debug({ err: error }, 'facts for the policy in mode Shadow could not be loaded');
      return undefined;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #change(object: PolicyObject): Promise<void> {
    const { name } = object.metadata;
    const running = this.#running;
    if (running?.object.metadata.name === name && isRunning(object)) {
      this.#running = { ...running, object };
      return;
    }
    this.#running = undefined;
    await this.#flush(running);
    if (!isRunning(object)) return;
    try {
      const policy = await this.#engine.compile(name, object.spec.cedar, 'live');
      this.#running = { object, policy, tally: new ShadowTally() };
      this.#log.info({ policy: name }, 'policy is compared in mode Shadow');
    } catch (error) {
      this.#log.error({ err: error, policy: name }, 'policy cannot be compared in mode Shadow');
    }
  }

  #watch(): void {
    const { watchCache } = this.#store;
    const { leave } = watchCache.subscribe(Policy.resource, watchCache.revision, {
      event: ({ after }) => {
        const policy = after?.object as PolicyObject | undefined;
        if (policy?.spec.mode === 'Shadow') void this.apply(policy);
      },
      gap: () => {
        this.#reading = this.#readLatest();
      },
    });
    this.#unsubscribe = leave;
  }

  async #readLatest(): Promise<void> {
    try {
      const policy = await this.#store.change(this.#store.systemCall(), async (tx) => {
        const latest = await readLatestShadow(tx);
        return latest && tx.get(Policy, shadowName(latest.number));
      });
      if (policy) await this.apply(policy);
    } catch (error) {
      this.#log.warn({ err: error }, 'policy in mode Shadow could not be read');
    }
  }

  /** Writes what was counted since the last time, and that the policies agree once that is so. */
  async #flush(running: RunningShadow | undefined): Promise<void> {
    if (!running) return;
    const { object, tally } = running;
    const { name } = object.metadata;
    const counts = tally.take();
    if (counts.evaluated === 0 && !becomesAgreed(object)) return;
    const call = this.#store.systemCall();
    try {
      await this.#store.change(call, (tx) =>
        tx.update(Policy, name, ({ spec, status }) =>
          addToShadow(status.shadow!, counts, spec.minAgreedSeconds, call.now),
        ),
      );
    } catch (error) {
      tally.putBack(counts);
      this.#log.warn({ err: error, policy: name }, 'compared decisions could not be counted');
    }
  }
}

const isRunning = ({ status }: PolicyObject): boolean => status.supersededTimestamp === undefined;

/** Returns whether a policy is known to be an earlier one, or this one before it ended. */
function isOlder(object: PolicyObject, latest: PolicyObject | undefined): boolean {
  const number = ({ metadata }: PolicyObject): number => Number(metadata.name.slice(2));
  if (!latest) return false;
  if (number(object) !== number(latest)) return number(object) < number(latest);
  return isRunning(object) && !isRunning(latest);
}

const becomesAgreed = ({ spec, status: { shadow } }: PolicyObject): boolean =>
  shadow!.agreedTimestamp === undefined && isAgreed(shadow!, spec.minAgreedSeconds, Date.now());
