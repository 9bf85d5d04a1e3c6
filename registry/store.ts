import {
  under,
  type Committed,
  type Entry,
  type Lost,
  type Revision,
  type Storage,
} from '../storage/storage.js';
import { Committer } from './committer.js';
import type { Authorize, Question } from './authorizer.js';
import { guard, inStatus } from './storage-errors.js';
import type { Hub } from './watchcache/watch-cache.js';
import type {
  AnyKind,
  Call,
  Caller,
  Decision,
  Draft,
  KindObject,
  ObjectOf,
  Part,
  Ports,
  Reader,
  RequestFacts,
  Settings,
  Transaction,
} from './kind.js';
import { KeyedMutex } from './keyed-mutex.js';
import type { Keys } from '../security/keyring.js';
import { Recollection } from './optimistic-cache.js';
import { NetworkLimits } from './network-limits.js';
import type { Registry } from './registry.js';
import { unavailable } from './status.js';
import { copyOf, counts, objectKey, storedOf, type Stored } from './encoded-object.js';
import { StoreTransaction, uniqueKey, type Source } from './transaction.js';

/** What a Store stands on. */
interface StoreParts {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly hub: Hub;
  readonly keys: Keys;
  readonly settings: Settings;
  readonly authorize: Authorize;
  /** The ports of this service's own calls. */
  readonly ports: () => Ports;
}

/** What differs from call to call. */
interface CallFacts {
  caller: Caller;
  request: RequestFacts;
  ports: Ports;
  dryRun?: boolean;
  target?: Target;
  decision?: Decision;
}

/**
 * What a request is about, as it was read for its decision; `recalled` where it is but remembered,
 * so that only a commit proves it.
 */
export interface Target {
  readonly stored: Stored;
  readonly recalled?: boolean;
}

/**
 * What was remembered does not stand any more, or there was nothing to prove it: whatever was
 * decided on it is to be decided anew, on what stands.
 */
export class Outdated extends Error {
  override readonly name = 'Outdated';
}

/** What came of a change: whether there was anything to commit. */
interface Done<T> {
  readonly result: T;
  readonly committed: boolean;
}

/** What came of one try: a race may have been lost at a key. */
type Attempt<T> = Done<T> | { readonly lostAt: string };

const ownFacts: RequestFacts = { auditID: 'system', network: '', userAgent: '', browser: false };
const deadline = 10_000;

/** Strategies over storage: reads of objects, and the only read-change-write loop over them. */
export class Store {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly hub: Hub;
  readonly #parts: StoreParts;
  /** What the deployment says. */
  readonly settings: Settings;
  /** What client networks may ask for, together and on all replicas. */
  readonly networkLimits: NetworkLimits;
  /** Present where reading means asking another process. */
  readonly #recollection: Recollection | undefined;
  readonly #committer: Committer;
  /**
   * Changes of this replica that lost at the same key: one at a time, so that a crowd costs one
   * commit each.
   */
  readonly #losers = new KeyedMutex();

  constructor(parts: StoreParts) {
    this.storage = parts.storage;
    this.registry = parts.registry;
    this.hub = parts.hub;
    this.#parts = parts;
    this.settings = parts.settings;
    this.networkLimits = new NetworkLimits(
      parts.storage,
      parts.settings.limitFactor,
      parts.settings.limits,
    );
    const recollection = parts.storage.peek ? undefined : new Recollection();
    this.#recollection = recollection;
    this.#committer = new Committer(parts.storage, parts.hub, recollection);
    if (recollection) parts.hub.tell((change) => recollection.heard(change));
  }

  /**
   * The Call through which kinds see one request; its first change begins from the target as it was
   * read for the decision.
   */
  call(facts: CallFacts): Call {
    const { keys, settings, authorize } = this.#parts;
    let { target, decision } = facts;
    const { site } = facts.request;
    const call: Call = {
      now: Date.now(),
      caller: facts.caller,
      request: facts.request,
      dryRun: facts.dryRun ?? false,
      ports: facts.ports,
      settings,
      keys,
      ...(decision && { decision }),
      decide: async (
        action,
        { caller = facts.caller, kind, name, object, record, ...rest }: Record<string, unknown>,
      ) =>
        authorize({
          caller,
          action,
          kind,
          name,
          object,
          record,
          facts: { ...(site && { site }), ...rest },
        } as Question),
      store: (kind) => this.reader(kind),
      spend: (limit) => this.networkLimits.spend(limit, facts.request.network, call.now),
      giveBack: (limit) => this.networkLimits.giveBack(limit, facts.request.network, call.now),
      spentRatio: (limit) => this.networkLimits.ratio(limit, call.now),
      change: async (work) => {
        const read = target;
        target = undefined;
        const { result, committed } = await this.#change(call, work, read, decision);
        if (committed) decision = undefined;
        return result;
      },
    };
    return call;
  }

  /** A Call of this service itself. */
  systemCall(): Call {
    return this.call({ caller: { type: 'System' }, request: ownFacts, ports: this.#parts.ports() });
  }

  /** One object as it stands at the latest, undecoded. */
  async stored(kind: AnyKind, name: string): Promise<Stored | undefined> {
    const { entry } = await guard(this.storage.get(objectKey(kind, name)));
    return counts(entry, Date.now()) ? storedOf(kind, entry) : undefined;
  }

  /** The same where it needs no waiting; undefined where the driver must ask somebody. */
  atHand(kind: AnyKind, name: string): { readonly stored: Stored | undefined } | undefined {
    try {
      const held = this.storage.peek?.(objectKey(kind, name));
      return (
        held && { stored: counts(held.entry, Date.now()) ? storedOf(kind, held.entry) : undefined }
      );
    } catch (error) {
      throw inStatus(error);
    }
  }

  /** One object from the coherent cache where it is fresh. */
  async cached(kind: AnyKind, name: string): Promise<Stored | undefined> {
    const key = objectKey(kind, name);
    const held = this.hub.held(key);
    return live(held ? held.stored : await guard(this.hub.cached(kind, key)));
  }

  /**
   * The same without waiting: undefined too where the cache does not have it or cannot be trusted.
   */
  held(kind: AnyKind, name: string): Stored | undefined {
    return live(this.hub.held(objectKey(kind, name))?.stored);
  }

  /**
   * One object as this replica remembers it: for a change to begin from, which proves it or is
   * {@link Outdated}.
   */
  recall(kind: AnyKind, name: string): Stored | undefined {
    const entry = this.#recalled(objectKey(kind, name));
    return counts(entry, Date.now()) ? storedOf(kind, entry) : undefined;
  }

  #recalled(key: string): Entry | undefined {
    return (
      this.#recollection && (this.#recollection.recall(key) ?? this.hub.held(key)?.stored?.entry)
    );
  }

  /** Reads of one kind, for whoever has already been let in. */
  reader<K extends AnyKind>(kind: K): Reader<ObjectOf<K>> {
    type O = ObjectOf<K>;
    const range = (owner?: string) =>
      under(
        owner === undefined ? `objects/${kind.resource}/` : `objects/${kind.resource}/${owner}-`,
      );
    return {
      get: async (name) => (await this.stored(kind, name))?.object as O | undefined,
      cached: async (name) =>
        (this.held(kind, name) ?? (await this.cached(kind, name)))?.object as O | undefined,
      held: (name) => this.held(kind, name)?.object as O | undefined,
      list: async (owner) =>
        (await guard(this.storage.list(range(owner)))).entries
          .filter((entry) => counts(entry, Date.now()))
          .map((entry) => storedOf(kind, entry).object as O),
      byUnique: async (field, value) => {
        const { entry } = await guard(this.storage.get(uniqueKey(kind, field, value)));
        return (
          entry && ((await this.stored(kind, entry.value.toString()))?.object as O | undefined)
        );
      },
    };
  }

  /** Every stored object of a kind as of one revision, some at a time; answers that revision. */
  async eachPage(kind: AnyKind, take: (page: readonly Entry[]) => void): Promise<Revision> {
    const { start: first, end } = under(`objects/${kind.resource}/`);
    let at: Revision | undefined;
    for (let start = first; ; ) {
      const page = await guard(
        this.storage.list({ start, end }, { limit: 500, ...(at !== undefined && { at }) }),
      );
      at = page.revision;
      take(page.entries);
      if (page.more === 0) return at;
      start = `${page.entries.at(-1)!.key}!`;
    }
  }

  /**
   * One commit of `work` together with the `decision` that allows it; when a race was lost the work
   * runs again, until it wins or ten seconds passed (503).
   */
  async change<T>(
    call: Call,
    work: (tx: Transaction) => Promise<T>,
    decision?: Decision,
  ): Promise<T> {
    return (await this.#change(call, work, undefined, decision)).result;
  }

  async #change<T>(
    call: Call,
    work: (tx: Transaction) => Promise<T>,
    read: Target | undefined,
    decision: Decision | undefined,
  ): Promise<Done<T>> {
    let outcome =
      (await this.#guess(call, work, read, decision)) ??
      (await this.#attempt(
        call,
        work,
        { get: this.#get, known: read ? [read.stored] : [] },
        decision,
      ));
    for (const end = performance.now() + deadline; 'lostAt' in outcome; ) {
      outcome = await this.#losers.run(outcome.lostAt, async () => {
        if (performance.now() > end)
          throw unavailable('too many changes of the same objects at once');
        return this.#attempt(call, work, { get: this.#get }, decision);
      });
    }
    return outcome;
  }

  /**
   * The first try, begun from what is remembered, which spares the reads; undefined where no commit
   * proves it, be it that something was refused or that there was nothing to write.
   */
  async #guess<T>(
    call: Call,
    work: (tx: Transaction) => Promise<T>,
    read: Target | undefined,
    decision: Decision | undefined,
  ): Promise<Attempt<T> | undefined> {
    if (!this.#recollection || call.dryRun) return undefined;
    let guessed = read?.recalled ?? false;
    const get = async (key: string): Promise<Entry | undefined> => {
      const recalled = this.#recalled(key);
      if (!recalled) return this.#get(key);
      guessed = true;
      return recalled;
    };
    let refused = false;
    const tried = (tx: Transaction): Promise<T> =>
      work(tx).catch((error: unknown) => {
        refused = true;
        throw error;
      });
    try {
      const outcome = await this.#attempt(
        call,
        tried,
        { get, known: read ? [read.stored] : [] },
        decision,
      );
      if (!guessed || ('lostAt' in outcome ? !read?.recalled : outcome.committed)) return outcome;
    } catch (error) {
      if (!guessed || !refused) throw error;
    }
    if (read?.recalled) throw new Outdated();
    return undefined;
  }

  readonly #get = async (key: string): Promise<Entry | undefined> =>
    (await guard(this.storage.get(key))).entry;

  async #attempt<T>(
    call: Call,
    work: (tx: Transaction) => Promise<T>,
    source: Source,
    decision: Decision | undefined,
  ): Promise<Attempt<T>> {
    const tx = new StoreTransaction(this.registry, source, call);
    const result = await work(tx);
    const { part, written } = tx.finish();
    if (call.dryRun)
      for (const { metadata } of written)
        if (metadata.resourceVersion === '0') metadata.resourceVersion = String(this.hub.revision);
    if (part.writes.length === 0 || call.dryRun) return { result, committed: false };
    const record = new StoreTransaction(this.registry, { get: source.get, first: tx }, call);
    await decision?.join?.(record);
    const outcome = await this.commit(
      [tx.isChanged ? tx.finish().part : part],
      record.finish().part,
    );
    if (!outcome.committed) return { lostAt: outcome.winners.keys().next().value ?? '' };
    for (const object of written) object.metadata.resourceVersion = String(outcome.revision);
    for (const effect of [...tx.effects, ...record.effects]) effect();
    return { result, committed: true };
  }

  /** What creates, changes or deletes one object in somebody else's commit. */
  async stage<K extends AnyKind>(
    kind: K,
    name: string,
    work: (old: ObjectOf<K> | undefined) => Draft<ObjectOf<K>> | 'delete' | 'leave',
  ): Promise<Part> {
    const tx = new StoreTransaction(this.registry, { get: this.#get }, this.systemCall());
    const old = await tx.get(kind, name);
    const outcome = work(old && copyOf(old));
    if (outcome === 'delete') await tx.delete(kind, name);
    else if (outcome !== 'leave') {
      const draft = outcome as KindObject;
      if (!old)
        await tx.create(kind, { ...draft, metadata: { ...draft.metadata, name } } as Draft<
          ObjectOf<K>
        >);
      else
        await tx.update(kind, name, (next) => {
          Object.assign(next, { spec: draft.spec, status: draft.status, internal: draft.internal });
          Object.assign(next.metadata, draft.metadata, { name });
        });
    }
    return tx.finish().part;
  }

  /** Commits Parts as they are, and the record of what allows them. */
  commit(parts: readonly Part[], record?: Part): Promise<Committed | Lost> {
    return this.#committer.commit(parts, record);
  }
}

const live = (stored: Stored | undefined): Stored | undefined =>
  stored && counts(stored.entry, Date.now()) ? stored : undefined;
