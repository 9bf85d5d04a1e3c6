import type { Entry, Page, Range, Storage } from '../../storage/storage.js';
import type { AuthorizedTarget } from '../call-facts.js';
import type { EncodedObject } from '../encoded-object.js';
import type { AnyKind, Call, Decision } from '../kind.js';
import { KeyedMutex } from '../limits/keyed-mutex.js';
import { unavailable } from '../status/status.js';
import { toStatusError } from '../status/storage-errors.js';
import type { StoreCommitter } from './committer.js';
import type { Registry } from './registry.js';
import { StoreTransaction, type TransactionSource, type Work } from './transaction.js';

/** A change that a request asks for, and what the request was authorized with. */
export interface PendingChange<T> {
  readonly call: Call;
  readonly work: Work<T>;
  readonly target?: AuthorizedTarget | undefined;
  readonly decision?: Decision | undefined;
}

/** A change that was made: committed, or with nothing to write, as in a dry run. */
export interface ChangeResult<T> {
  readonly is: 'Committed' | 'Unwritten';
  readonly result: T;
}

/**
 * The outcome of one try. It is lost if the object of a key has changed since it was read, and unproven
 * if it read from a cache and made no commit that compares what it read.
 */
type TryResult<T> =
  | ChangeResult<T>
  | { readonly is: 'Lost'; readonly key: string }
  | { readonly is: 'Unproven' };

/** What the loop reads from and commits to. */
interface LoopDependencies {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly committer: StoreCommitter;
  readonly stored: (kind: AnyKind, name: string) => Promise<EncodedObject | undefined>;
  /** Returns an entry as it was last known; only where reads go to another process. */
  readonly cachedEntry: ((key: string) => Entry | undefined) | undefined;
}

const retryForMs = 10_000;
/** A change that lost a range of keys has no winner; all of these are tried again one at a time. */
const rangeKey = '';

/** Reads, runs the work of a change, commits, and does so again after a conflict. */
export class ChangeLoop {
  readonly #dependencies: LoopDependencies;
  /** Serializes retries on the same key within this process. */
  readonly #retryMutex = new KeyedMutex();

  constructor(dependencies: LoopDependencies) {
    this.#dependencies = dependencies;
  }

  /** Makes a change. After a conflict it is tried again, for ten seconds (503). */
  async run<T>(change: PendingChange<T>): Promise<ChangeResult<T>> {
    let outcome = this.#dependencies.cachedEntry
      ? await this.#tryFromCache(change, this.#dependencies.cachedEntry)
      : await this.#tryFirst(change, this.source(change.target?.stored));
    const deadline = performance.now() + retryForMs;
    const retry = (): Promise<TryResult<T>> => {
      if (performance.now() > deadline) {
        throw unavailable('too many changes of the same objects at once');
      }
      return this.#tryOnCurrent(change);
    };
    while (outcome.is === 'Lost' || outcome.is === 'Unproven') {
      outcome = await (outcome.is === 'Lost' ? this.#retryMutex.run(outcome.key, retry) : retry());
    }
    return outcome;
  }

  /** Returns a source of what is stored now, with an object that was read before. */
  source(known?: EncodedObject): TransactionSource {
    return { get: this.#get, list: this.#list, known: known ? [known] : [] };
  }

  /** A try on the current objects. The request is authorized again if its target has changed. */
  async #tryOnCurrent<T>(change: PendingChange<T>): Promise<TryResult<T>> {
    const { target } = change;
    if (!target) return this.#try(change, this.source());
    const { kind, name, revision } = target.stored;
    const stored = await this.#dependencies.stored(kind, name);
    const decision =
      stored?.revision === revision ? change.decision : await target.authorize(stored);
    return this.#try({ ...change, decision }, this.source(stored));
  }

  /** The first try, from cached objects, without reads. */
  async #tryFromCache<T>(
    change: PendingChange<T>,
    cachedEntry: (key: string) => Entry | undefined,
  ): Promise<TryResult<T>> {
    const { target, work } = change;
    let hasUsedCache = target?.fromCache ?? false;
    const get = async (key: string): Promise<Entry | undefined> => {
      const cached = cachedEntry(key);
      if (!cached) return this.#get(key);
      hasUsedCache = true;
      return cached;
    };
    let hasWorkFailed = false;
    const trackedWork: Work<T> = (tx) =>
      work(tx).catch((error: unknown) => {
        hasWorkFailed = true;
        throw error;
      });
    try {
      const source = { ...this.source(target?.stored), get, isCached: () => hasUsedCache };
      const outcome = await this.#tryFirst({ ...change, work: trackedWork }, source);
      if (!hasUsedCache || outcome.is !== 'Unwritten') return outcome;
    } catch (error) {
      if (!hasUsedCache || !hasWorkFailed) throw error;
    }
    return { is: 'Unproven' };
  }

  readonly #get = async (key: string): Promise<Entry | undefined> =>
    (await toStatusError(this.#dependencies.storage.get(key))).entry;

  readonly #list = (range: Range): Promise<Page> =>
    toStatusError(this.#dependencies.storage.list(range));

  /**
   * A try that is lost if a change that lost before waits for one of its keys: otherwise who changes an
   * object all the time keeps others out.
   */
  #tryFirst<T>(change: PendingChange<T>, source: TransactionSource): Promise<TryResult<T>> {
    return this.#try(change, source, (key) => this.#retryMutex.isBusy(key));
  }

  async #try<T>(
    { call, work, decision }: PendingChange<T>,
    source: TransactionSource,
    isBusy: (key: string) => boolean = () => false,
  ): Promise<TryResult<T>> {
    const { registry, committer } = this.#dependencies;
    const tx = new StoreTransaction(registry, source, call);
    const result = await work(tx);
    const { part, written } = tx.finish();
    if (part.writes.length === 0 || call.dryRun) return { is: 'Unwritten', result };
    const busy = part.checks.find(({ key }) => isBusy(key));
    if (busy) return { is: 'Lost', key: busy.key };
    const record = new StoreTransaction(registry, { ...source, known: [], continues: tx }, call);
    await (tx.decision ?? decision)?.recordIn?.(record);
    // The record may have taken raw keys over: a commit writes a key once.
    const own = tx.hasLostKeys ? tx.finish().part : part;
    const outcome = await committer.commit([own], record.finish().part);
    if (!outcome.committed) {
      const [key = rangeKey] = outcome.winners.keys();
      return { is: 'Lost', key };
    }
    for (const object of written) object.metadata.resourceVersion = String(outcome.revision);
    for (const effect of [...tx.effects, ...record.effects]) effect();
    return { is: 'Committed', result };
  }
}
