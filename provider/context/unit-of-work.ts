import { isLive } from '../../registry/encoded-object.js';
import type { RawValue, Transaction } from '../../registry/kind.js';
import type { Store } from '../../registry/store/store.js';
import type { Check, Entry, Write } from '../../storage/storage.js';
import { assertUnchanged } from './conflict.js';
import { withProviderErrors } from './errors.js';
import { type Origin, RequestState, type SingleUse } from './request-state.js';

/**
 * Collects the library's writes during one request. Its own reads see them; one commit makes them
 * before the response is sent.
 */
export class UnitOfWork {
  readonly origin: Origin;
  readonly uses: SingleUse[] = [];
  readonly state = new RequestState();
  readonly #store: Store;
  readonly #reads = new Map<string, Entry | undefined>();
  readonly #writes = new Map<string, Write>();
  readonly #checks = new Map<string, Check>();
  readonly #deferred = new Map<string, (tx: Transaction) => Promise<void>>();

  constructor(store: Store, origin: Origin = {}) {
    this.#store = store;
    this.origin = origin;
  }

  /** Returns the value of a key, own writes first; undefined if absent or expired. */
  async read(key: string): Promise<RawValue | undefined> {
    const own = this.#writes.get(key);
    if (own) return 'put' in own ? own : undefined;
    if (!this.#reads.has(key)) {
      this.#reads.set(key, (await withProviderErrors(this.#store.storage.get(key))).entry);
    }
    const entry = this.#reads.get(key);
    return isLive(entry, Date.now()) ? entry : undefined;
  }

  /** Writes a key until `expires` (ms since the epoch); the commit checks it if it was read. */
  write(key: string, value: Buffer, expires: number): void {
    this.#writes.set(key, { put: key, value, expires });
    this.checkUnchanged(key);
  }

  remove(key: string): void {
    this.#writes.set(key, { delete: key });
  }

  /** Whether this unit of work writes the key. */
  writes(key: string): boolean {
    return 'put' in (this.#writes.get(key) ?? {});
  }

  /** Lets the commit check that a key has not changed, if it was read. */
  checkUnchanged(key: string): void {
    if (this.#reads.has(key)) this.check({ key, is: this.#reads.get(key)?.revision ?? 'absent' });
  }

  check(check: Check): void {
    this.#checks.set(check.key, check);
  }

  /** Adds work in the commit's transaction; a later call with the same id replaces it. */
  defer(id: string, work: (tx: Transaction) => Promise<void>): void {
    this.#deferred.set(id, work);
  }

  /** Commits all writes, once. Throws `ConflictError` if a checked key was changed. */
  async commit(): Promise<void> {
    const own = { checks: [...this.#checks.values()], writes: [...this.#writes.values()] };
    let tries = 0;
    const change = async (tx: Transaction): Promise<void> => {
      if ((tries += 1) > 1) await assertUnchanged(this.#store.storage, own.checks);
      tx.add(own);
      for (const work of this.#deferred.values()) await work(tx);
    };
    if (own.writes.length + this.#deferred.size > 0) {
      await withProviderErrors(this.#store.change(this.#store.systemCall(), change));
    }
  }
}
