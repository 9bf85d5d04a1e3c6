import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { StagedWrites } from '../../registry/kind.js';
import type { Store } from '../../registry/store/store.js';
import type { Check, Entry, Write } from '../../storage/storage.js';
import { withProviderErrors } from './errors.js';

/** The commit of a unit of work failed: a key that it had read or checked was changed. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
  readonly keys: ReadonlySet<string>;
  constructor(keys: Iterable<string>) {
    super('a concurrent request changed an object that this request had read');
    this.keys = new Set(keys);
  }
}

/** A single-use object, and the grant that is revoked when it is used twice. */
export interface SingleUse {
  readonly key: string;
  readonly model: string;
  readonly grantId?: string;
}

/** The request, for limits and projections. */
export interface Origin {
  readonly request?: IncomingMessage;
  readonly network?: string;
}

/**
 * Collects the library's writes during one request. Its own reads see them; one commit makes them
 * before the response is sent.
 */
export class UnitOfWork {
  readonly origin: Origin;
  readonly uses: SingleUse[] = [];
  readonly memo = new Map<string, unknown>();
  /** The name of the request's Client, for the log. */
  client: string | undefined;
  readonly #store: Store;
  readonly #reads = new Map<string, Entry | undefined>();
  readonly #staged = new Map<string, Write>();
  readonly #checks = new Map<string, Check>();
  readonly #parts: StagedWrites[] = [];
  readonly #deferred = new Map<string, () => Promise<StagedWrites>>();
  readonly #afterwards = new Map<string, () => void>();

  constructor(store: Store, origin: Origin = {}) {
    this.#store = store;
    this.origin = origin;
  }

  /** Returns the value of a key, own writes first; undefined if absent or expired. */
  async get(key: string): Promise<Buffer | undefined> {
    const staged = this.#staged.get(key);
    if (staged) return 'put' in staged ? staged.value : undefined;
    if (!this.#reads.has(key))
      this.#reads.set(key, (await withProviderErrors(this.#store.storage.get(key))).entry);
    const entry = this.#reads.get(key);
    return entry && (entry.expires === undefined || entry.expires > Date.now())
      ? entry.value
      : undefined;
  }

  /** Writes a key; if it was read before, the commit checks that it has not changed. */
  put(key: string, value: Buffer, expires: number): void {
    this.#staged.set(key, { put: key, value, expires });
    this.checkUnchanged(key);
  }

  /** Deletes a key. */
  delete(key: string): void {
    this.#staged.set(key, { delete: key });
  }

  /** Whether this unit of work writes the key. */
  puts(key: string): boolean {
    const staged = this.#staged.get(key);
    return staged !== undefined && 'put' in staged;
  }

  /** Returns when a key that was read or is written here expires; undefined if it does not. */
  expiryOf(key: string): number | undefined {
    const staged = this.#staged.get(key);
    return staged && 'put' in staged ? staged.expires : this.#reads.get(key)?.expires;
  }

  /** Adds a check that a key has not changed since it was read. */
  checkUnchanged(key: string): void {
    if (!this.#reads.has(key)) return;
    const read = this.#reads.get(key);
    this.check({ key, is: read ? read.revision : 'absent' });
  }

  /** Adds a check. */
  check(check: Check): void {
    this.#checks.set(check.key, check);
  }

  /** Adds checks and writes of another component. */
  add(part: StagedWrites): void {
    this.#parts.push(part);
  }

  /**
   * Adds writes that `make` creates at each attempt to commit; a later call with the same id
   * replaces them.
   */
  defer(id: string, make: () => Promise<StagedWrites>): void {
    this.#deferred.set(id, make);
  }

  /** Runs `start` after the commit; a later call with the same id replaces it. */
  afterCommit(id: string, start: () => void): void {
    this.#afterwards.set(id, start);
  }

  #ownWrites(): StagedWrites {
    return { checks: [...this.#checks.values()], writes: [...this.#staged.values()] };
  }

  /** Returns the collected checks and writes, for a commit by the caller. */
  async staged(): Promise<readonly StagedWrites[]> {
    return [this.#ownWrites(), ...this.#parts, ...(await this.#deferredWrites())];
  }

  /** Commits all writes, if there are any; throws {@link ConflictError}. */
  async commit(): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const own = this.#ownWrites();
      const parts = [own, ...this.#parts, ...(await this.#deferredWrites())];
      if (parts.every((part) => part.writes.length === 0)) return this.#clear();
      const outcome = await withProviderErrors(this.#store.commit(parts));
      if (outcome.committed) return this.#committed();
      const checkedKeys = new Set(
        [own, ...this.#parts].flatMap((part) => part.checks.map((check) => check.key)),
      );
      const conflictingKeys = [...outcome.winners.keys()].filter((key) => checkedKeys.has(key));
      if (conflictingKeys.length > 0) throw new ConflictError(conflictingKeys);
    }
    throw new ConflictError([]);
  }

  async #deferredWrites(): Promise<StagedWrites[]> {
    const parts: StagedWrites[] = [];
    for (const make of this.#deferred.values()) parts.push(await withProviderErrors(make()));
    return parts;
  }

  #committed(): void {
    const started = [...this.#afterwards.values()];
    this.#clear();
    for (const start of started) start();
  }

  #clear(): void {
    for (const map of [this.#staged, this.#checks, this.#reads, this.#deferred, this.#afterwards])
      map.clear();
    this.#parts.length = 0;
    this.uses.length = 0;
  }
}

const current = new AsyncLocalStorage<UnitOfWork>();

/** Returns the unit of work of the current request. */
export const currentUnitOfWork = (): UnitOfWork | undefined => current.getStore();

/** Runs `work` in a unit of work, which the caller commits. */
export const inUnitOfWork = <T>(unitOfWork: UnitOfWork, work: () => Promise<T>): Promise<T> =>
  current.run(unitOfWork, work);

/** Runs `work` outside the request's unit of work. */
export const outsideUnitOfWork = <T>(work: () => T): T => current.exit(work);
