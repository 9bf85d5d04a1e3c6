import type { Log } from '../observability/log.js';
import { timeout } from '../registry/status.js';
import type { Store } from '../registry/store.js';
import type { Engine } from './engine.js';
import { ParsedPolicyCache } from './parsed-policy-cache.js';
import {
  enact,
  newestPolicy,
  Policy,
  policyName,
  policyNumber,
  type PolicyObject,
} from '../kinds/policy/policy.js';

/**
 * After a text could not be compiled, and after history was lost, looks again so much later, in
 * milliseconds.
 */
const again = { failed: 5_000, lost: [0, 2_000, 10_000] };

/**
 * Keeps this replica judging by the newest policy in the store: loaded at start, followed through
 * the watch cache.
 */
export class ActivePolicyController {
  readonly #engine: Engine;
  readonly #store: Store;
  readonly #log: Log;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #changed: () => void;
  readonly #kept: ParsedPolicyCache;
  #desired = 0;
  #observed = 0;
  #work: Promise<void> = Promise.resolve();
  #keeping: Promise<void> = Promise.resolve();
  #leave: () => void = () => {};
  #stopped = false;

  /** `changed` is called each time another policy has come into force here. */
  constructor(engine: Engine, store: Store, log: Log, changed: () => void) {
    this.#changed = changed;
    this.#engine = engine;
    this.#store = store;
    this.#log = log;
    this.#kept = new ParsedPolicyCache(store, engine);
  }

  /**
   * Follows from here on, and loads the newest policy, or creates the first; replicas may race for
   * it.
   */
  async start(): Promise<void> {
    this.#follow();
    const rules = await this.#first();
    const call = this.#store.systemCall();
    const policy = await this.#store.change(call, async (tx) => {
      const newest = await newestPolicy(tx);
      return newest
        ? (await tx.get(Policy, policyName(newest.number)))!
        : enact(tx, call, {
            spec: {
              cedar: this.#engine.defaultText,
              description: 'The policy this service comes with.',
            },
            rules: rules ?? (await this.#engine.rulesOf(this.#engine.defaultText)),
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
    )
      this.#log.warn(
        { policy: name },
        'the policy in force is the one an earlier release came with; this release comes with another, which takes its place only when someone creates it',
      );
    await this.take(policy);
  }

  /**
   * Throws where no policy is in force, or a newer one than this replica could bring into force.
   */
  check(): void {
    if (this.#engine.inForce === undefined || this.#observed < this.#desired)
      throw new Error(
        `policy ${policyName(this.#desired)} cannot be brought into force by this release; the way back in is another Policy in --manifests`,
      );
    if (!this.#engine.alive()) throw new Error('the engine does not answer');
  }

  /**
   * Brings a policy into force here, unless it is older than one that is or waits; where its text
   * cannot be compiled, the former stays.
   */
  take(policy: PolicyObject): Promise<void> {
    const number = policyNumber(policy.metadata.name);
    if (number < this.#desired || number === this.#observed) return this.#work;
    this.#desired = number;
    return (this.#work = this.#work.then(() => this.#apply(policy, number)));
  }

  /** Resolves once the policy, or a newer one, is in force here. */
  async inForce(policy: PolicyObject): Promise<void> {
    await this.take(policy);
    if (this.#observed < policyNumber(policy.metadata.name))
      throw timeout(
        `policy ${policy.metadata.name} was created, but is not in force on this replica`,
      );
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#leave();
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#work;
    await this.#keeping;
  }

  /**
   * The rules of the default text, read outside of any transaction where they are going to be
   * needed.
   */
  async #first() {
    const { entry } = await this.#store.storage.get('meta/policy');
    return entry ? undefined : this.#engine.rulesOf(this.#engine.defaultText);
  }

  async #apply(policy: PolicyObject, number: number): Promise<void> {
    if (number < this.#desired || number <= this.#observed) return;
    const { name } = policy.metadata;
    try {
      await this.#use(name, policy.spec.cedar);
      this.#observed = number;
      this.#changed();
      this.#log.info({ policy: name, author: policy.status.author }, 'a policy is in force');
    } catch (error) {
      this.#log.error(
        { err: error, policy: name },
        'a policy cannot be brought into force, the former stays',
      );
      this.#later(again.failed, () => this.take(policy));
    }
  }

  /**
   * By the rules that a replica kept when it read this text, else by the text, whose rules are then
   * kept. No one looks at what is kept but when a policy comes into force: replicas of different
   * releases overwrite each other's once each, not for ever.
   */
  async #use(name: string, text: string): Promise<void> {
    const known = await this.#kept.of(name, text).catch((error) => {
      this.#log.debug({ err: error }, 'what was kept of the policy cannot be read, its text is');
      return undefined;
    });
    const rules = await this.#engine.use(name, text, known);
    if (!known)
      this.#keeping = this.#kept
        .keep(name, text, rules)
        .catch((error) =>
          this.#log.debug(
            { err: error },
            'the rules of the policy were not kept for the next start',
          ),
        );
  }

  #follow(): void {
    const { watchCache } = this.#store;
    const { leave } = watchCache.subscribe(Policy.resource, watchCache.revision, {
      event: ({ after }) => {
        const policy = after?.object as PolicyObject | undefined;
        if (policy?.status.inForce) void this.take(policy);
      },
      end: (why) => {
        if (why === 'Compacted') this.#refollow();
      },
    });
    this.#leave = leave;
  }

  /** History was lost: whatever happened meanwhile is read from the store. */
  #refollow(): void {
    this.#follow();
    for (const wait of again.lost) this.#later(wait, () => this.#load());
  }

  async #load(): Promise<void> {
    const policy = await this.#store.change(this.#store.systemCall(), async (tx) => {
      const newest = await newestPolicy(tx);
      return newest && tx.get(Policy, policyName(newest.number));
    });
    if (policy) await this.take(policy);
  }

  #later(wait: number, work: () => Promise<void>): void {
    if (this.#stopped) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work().catch((error) =>
        this.#log.warn({ err: error }, 'the newest policy could not be read'),
      );
    }, wait);
    this.#timers.add(timer.unref());
  }
}
