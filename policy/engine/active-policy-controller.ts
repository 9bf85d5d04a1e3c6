import {
  createPolicy,
  newestPolicyKey,
  Policy,
  type PolicyObject,
  policyName,
  policyNumber,
  readNewestPolicy,
} from '../../kinds/policy/policy.js';
import type { Log } from '../../observability/log.js';
import { timeout } from '../../registry/status/status.js';
import type { Store } from '../../registry/store/store.js';
import type { Engine } from './engine.js';
import { ParsedPolicyCache } from './parsed-policy-cache.js';

/**
 * Retry delays in milliseconds: after a policy could not be compiled, and after a watch lost
 * history.
 */
const retryDelaysMs = { failed: 5_000, lost: [0, 2_000, 10_000] };

/**
 * Keeps the newest policy of the store active on this replica: loads it at start and follows the
 * watch cache.
 */
export class ActivePolicyController {
  readonly #engine: Engine;
  readonly #store: Store;
  readonly #log: Log;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #listeners: (() => void)[] = [];
  readonly #parsedPolicyCache: ParsedPolicyCache;
  #desired = 0;
  #observed = 0;
  #activating: Promise<void> = Promise.resolve();
  #caching: Promise<void> = Promise.resolve();
  #unsubscribe: () => void = () => {};
  #stopped = false;

  constructor(engine: Engine, store: Store, log: Log) {
    this.#engine = engine;
    this.#store = store;
    this.#log = log;
    this.#parsedPolicyCache = new ParsedPolicyCache(store, engine);
  }

  /**
   * Starts the watch and activates the newest policy, or creates the first. Replicas may race to
   * create it.
   */
  async start(): Promise<void> {
    this.#watch();
    const rules = await this.#defaultRules();
    const call = this.#store.systemCall();
    const policy = await this.#store.change(call, async (tx) => {
      const newest = await readNewestPolicy(tx);
      return newest
        ? (await tx.get(Policy, policyName(newest.number)))!
        : createPolicy(tx, call, {
            spec: {
              cedar: this.#engine.defaultText,
              description: 'The policy this service comes with.',
            },
            rules: rules ?? (await this.#engine.summarizeRules(this.#engine.defaultText)),
          });
    });
    const {
      metadata: { name },
      status: { author },
    } = policy;
    if (
      name === policyName(1) &&
      author === 'vestibule' &&
      policy.spec.cedar !== this.#engine.defaultText
    ) {
      this.#log.warn(
        { policy: name },
        'the active policy is the default of an earlier release; the default of this release becomes active only if it is created as a Policy',
      );
    }
    await this.apply(policy);
  }

  /** Throws if no policy is active, or if this replica could not activate the newest one. */
  check(): void {
    if (this.#engine.activePolicyName === undefined || this.#observed < this.#desired) {
      throw new Error(
        `policy ${policyName(this.#desired)} cannot be activated by this release: add another Policy to --manifests`,
      );
    }
    if (!this.#engine.isResponding()) throw new Error('Cedar does not respond');
  }

  /**
   * Activates a policy here unless a newer one is active or pending. Keeps the previous policy if
   * the text cannot be compiled.
   */
  apply(policy: PolicyObject): Promise<void> {
    const number = policyNumber(policy.metadata.name);
    if (number < this.#desired || number === this.#observed) return this.#activating;
    this.#desired = number;
    return (this.#activating = this.#activating.then(() => this.#activate(policy, number)));
  }

  /** Calls the listener whenever another policy became active here. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Returns what resolves when a policy that was received is active or refused; else undefined. */
  pending(): Promise<void> | undefined {
    return this.#observed < this.#desired ? this.#activating : undefined;
  }

  /** Resolves once this or a newer policy is active here. */
  async waitUntilActive(policy: PolicyObject): Promise<void> {
    await this.apply(policy);
    if (this.#observed < policyNumber(policy.metadata.name)) {
      throw timeout(
        `policy ${policy.metadata.name} was created, but is not in force on this replica`,
      );
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe();
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#activating;
    await this.#caching;
  }

  /**
   * Returns the rules of the default text if they will be needed. Parses outside of the
   * transaction.
   */
  async #defaultRules() {
    const { entry } = await this.#store.storage.get(newestPolicyKey);
    return entry ? undefined : this.#engine.summarizeRules(this.#engine.defaultText);
  }

  async #activate(policy: PolicyObject, number: number): Promise<void> {
    if (number < this.#desired || number <= this.#observed) return;
    const { name } = policy.metadata;
    try {
      await this.#useCachedRules(name, policy.spec.cedar);
      this.#observed = number;
      for (const listener of this.#listeners) listener();
      this.#log.info({ policy: name, author: policy.status.author }, 'policy activated');
    } catch (error) {
      this.#log.error(
        { err: error, policy: name },
        'policy activation failed, the previous policy stays active',
      );
      this.#retryAfter(retryDelaysMs.failed, () => this.apply(policy));
    }
  }

  /**
   * Activates a policy from its cached rules, or else from its text and then caches the rules. The
   * cache is read only at an activation, so replicas of different releases overwrite each other's
   * entry at most once each.
   */
  async #useCachedRules(name: string, text: string): Promise<void> {
    const cachedRules = await this.#parsedPolicyCache.get(name, text).catch((error) => {
      this.#log.debug({ err: error }, 'cached policy rules could not be read, parsing the text');
      return undefined;
    });
    const rules = await this.#engine.activate(name, text, cachedRules);
    if (!cachedRules) {
      this.#caching = this.#parsedPolicyCache
        .put(name, text, rules)
        .catch((error) => this.#log.debug({ err: error }, 'policy rules could not be cached'));
    }
  }

  #watch(): void {
    const { watchCache } = this.#store;
    const { leave } = watchCache.subscribe(Policy.resource, watchCache.revision, {
      event: ({ after }) => {
        const policy = after?.object as PolicyObject | undefined;
        if (policy?.status.inForce) void this.apply(policy);
      },
      gap: () => {
        for (const ms of retryDelaysMs.lost) this.#retryAfter(ms, () => this.#readNewest());
      },
    });
    this.#unsubscribe = leave;
  }

  async #readNewest(): Promise<void> {
    const policy = await this.#store.change(this.#store.systemCall(), async (tx) => {
      const newest = await readNewestPolicy(tx);
      return newest && tx.get(Policy, policyName(newest.number));
    });
    if (policy) await this.apply(policy);
  }

  #retryAfter(delayMs: number, work: () => Promise<void>): void {
    if (this.#stopped) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work().catch((error) => this.#log.warn({ err: error }, 'newest policy could not be read'));
    }, delayMs);
    this.#timers.add(timer.unref());
  }
}
