import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import libraryContext from 'oidc-provider/lib/helpers/als.js';
import type { StagedWrites } from '../../registry/kind.js';
import type { Store } from '../../registry/store.js';
import type { Check, Entry, Write } from '../../storage/storage.js';
import { withProviderErrors } from './errors.js';

/**
 * A commit of an exchange did not happen: something it had read, or relied on, was changed by
 * someone else.
 */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
  readonly keys: ReadonlySet<string>;
  constructor(keys: Iterable<string>) {
    super('what this request had read was changed by another one');
    this.keys = new Set(keys);
  }
}

/** Something that may be used once, and what falls with it when it is used twice. */
export interface SingleUse {
  readonly key: string;
  readonly model: string;
  readonly grantId?: string;
}

/** Who asks, as far as limits and projections need to know. */
export interface Origin {
  readonly request?: IncomingMessage;
  readonly network?: string;
}

/**
 * What the library writes while it answers one request: gathered, seen by its own reads, and made
 * in one commit before the answer leaves.
 */
export class UnitOfWork {
  readonly origin: Origin;
  readonly uses: SingleUse[] = [];
  readonly memo = new Map<string, unknown>();
  /** The name of the Client that it turned out to be about, for the log. */
  client: string | undefined;
  readonly #store: Store;
  readonly #reads = new Map<string, Entry | undefined>();
  readonly #staged = new Map<string, Write>();
  readonly #checks = new Map<string, Check>();
  readonly #parts: StagedWrites[] = [];
  readonly #makers = new Map<string, () => Promise<StagedWrites>>();
  readonly #afterwards = new Map<string, () => void>();

  constructor(store: Store, origin: Origin = {}) {
    this.#store = store;
    this.origin = origin;
  }

  /** The latest value, this exchange's own writes first; what has expired is absent. */
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

  /** Writes a key; where it was read before, only if it still stands as it was. */
  put(key: string, value: Buffer, expires: number): void {
    this.#staged.set(key, { put: key, value, expires });
    this.unmoved(key);
  }

  /** Removes a key, whatever stands there. */
  delete(key: string): void {
    this.#staged.set(key, { delete: key });
  }

  /** Whether this exchange itself writes the key. */
  puts(key: string): boolean {
    const staged = this.#staged.get(key);
    return staged !== undefined && 'put' in staged;
  }

  /** Makes the commit depend on the key being as it was when it was read. */
  unmoved(key: string): void {
    if (!this.#reads.has(key)) return;
    const read = this.#reads.get(key);
    this.check({ key, is: read ? read.revision : 'absent' });
  }

  /** Makes the commit depend on `check`. */
  check(check: Check): void {
    this.#checks.set(check.key, check);
  }

  /** Adds what someone else decided or wrote. */
  add(part: StagedWrites): void {
    this.#parts.push(part);
  }

  /**
   * A Part made only when the commit is, and made again when it lost; a later one under the same id
   * takes its place.
   */
  defer(id: string, make: () => Promise<StagedWrites>): void {
    this.#makers.set(id, make);
  }

  /** Starts something once the commit is made; a later one under the same id takes its place. */
  afterCommit(id: string, start: () => void): void {
    this.#afterwards.set(id, start);
  }

  #own(): StagedWrites {
    return { checks: [...this.#checks.values()], writes: [...this.#staged.values()] };
  }

  /** Returns what was gathered, for a commit that someone else makes. */
  async staged(): Promise<readonly StagedWrites[]> {
    return [this.#own(), ...this.#parts, ...(await this.#made())];
  }

  /** Commits what was gathered, if anything was; throws {@link ConflictError}. */
  async commit(): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const own = this.#own();
      const parts = [own, ...this.#parts, ...(await this.#made())];
      if (parts.every((part) => part.writes.length === 0)) return this.#clear();
      const outcome = await withProviderErrors(this.#store.commit(parts));
      if (outcome.committed) return this.#committed();
      const fixed = new Set(
        [own, ...this.#parts].flatMap((part) => part.checks.map((check) => check.key)),
      );
      const lost = [...outcome.winners.keys()].filter((key) => fixed.has(key));
      if (lost.length > 0) throw new ConflictError(lost);
    }
    throw new ConflictError([]);
  }

  async #made(): Promise<StagedWrites[]> {
    const parts: StagedWrites[] = [];
    for (const make of this.#makers.values()) parts.push(await withProviderErrors(make()));
    return parts;
  }

  #committed(): void {
    const started = [...this.#afterwards.values()];
    this.#clear();
    for (const start of started) start();
  }

  #clear(): void {
    for (const map of [this.#staged, this.#checks, this.#reads, this.#makers, this.#afterwards])
      map.clear();
    this.#parts.length = 0;
    this.uses.length = 0;
  }
}

const current = new AsyncLocalStorage<UnitOfWork>();

/** The exchange of the request under way, if there is one. */
export const currentUnitOfWork = (): UnitOfWork | undefined => current.getStore();

let underWay = 0;

/** Runs `work` as one exchange; committing is left to it. */
export async function inUnitOfWork<T>(exchange: UnitOfWork, work: () => Promise<T>): Promise<T> {
  underWay += 1;
  try {
    return await current.run(exchange, work);
  } finally {
    underWay -= 1;
    if (underWay === 0) rest();
  }
}

/**
 * Between exchanges nothing follows promises: on Node 20 anyone who does, the library's own context
 * included, taxes every promise of the process.
 */
function rest(): void {
  current.disable();
  libraryContext.disable();
}

/** Runs `work` outside of any request's exchange. */
export const outsideUnitOfWork = <T>(work: () => T): T => current.exit(work);
