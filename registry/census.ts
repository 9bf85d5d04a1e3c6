import { under, type Storage } from '../storage/storage.js';
import type { AnyKind } from './kind.js';

const fresh = 60_000;

/** How many objects of each kind the store has, counted when somebody asks and the last count is over a minute old. */
export class Census {
  readonly #storage: Storage;
  readonly #kinds: readonly AnyKind[];
  #counts = new Map<string, number>();
  #counted = -Infinity;
  #counting: Promise<void> | undefined;

  constructor(storage: Storage, kinds: readonly AnyKind[]) {
    this.#storage = storage;
    this.#kinds = kinds;
  }

  /** The last count, by resource; only the first is waited for. Throws where not even that can be had. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    if (performance.now() - this.#counted >= fresh) this.#counting ??= this.#count().finally(() => { this.#counting = undefined });
    if (this.#counted === -Infinity) await this.#counting;
    else this.#counting?.catch(() => { /* the last one stands, and the next scrape counts again */ });
    return this.#counts;
  }

  /** Resolves when no count is under way. */
  async settled(): Promise<void> { await this.#counting?.catch(() => undefined) }

  async #count(): Promise<void> {
    const counts = new Map<string, number>();
    for (const { resource } of this.#kinds) counts.set(resource, await this.#storage.count(under(`objects/${resource}/`)));
    this.#counts = counts;
    this.#counted = performance.now();
  }
}
