import {
  UnavailableError,
  type Check,
  type Committed,
  type Lost,
  type Storage,
  type Write,
} from '../storage/storage.js';
import { deleteOnlyFallbackOf } from './delete-only-fallback.js';
import { toStatusError, statusErrorOf } from './storage-errors.js';
import type { WatchCache } from './watchcache/watch-cache.js';
import type { StagedWrites } from './kind.js';
import type { OptimisticCache } from './optimistic-cache.js';
import { withSpan } from '../observability/tracer.js';

const nothing: StagedWrites = { checks: [], writes: [] };

/** Commits to storage, and updates the watch cache and the optimistic cache. */
export class StoreCommitter {
  readonly #storage: Storage;
  readonly #watchCache: WatchCache;
  readonly #optimisticCache: OptimisticCache | undefined;

  constructor(
    storage: Storage,
    watchCache: WatchCache,
    optimisticCache: OptimisticCache | undefined,
  ) {
    this.#storage = storage;
    this.#watchCache = watchCache;
    this.#optimisticCache = optimisticCache;
  }

  /**
   * Commits staged writes with the record of their decision. When the store is out of space,
   * commits the delete-only fallback instead, without a record (docs/design/storage.md#no-space).
   */
  async commit(
    parts: readonly StagedWrites[],
    record: StagedWrites = nothing,
  ): Promise<Committed | Lost> {
    const all = [...parts, record];
    const checks = all.flatMap((part) => part.checks);
    try {
      return await this.#write(
        checks,
        all.flatMap((part) => part.writes),
      );
    } catch (error) {
      const bare =
        error instanceof UnavailableError && error.full ? deleteOnlyFallbackOf(parts) : undefined;
      if (!bare) throw statusErrorOf(error);
      const outcome = await toStatusError(
        this.#write(
          parts.flatMap((part) => part.checks),
          bare.writes,
        ),
      );
      if (outcome.committed) bare.made?.();
      return outcome;
    }
  }

  async #write(checks: readonly Check[], writes: readonly Write[]): Promise<Committed | Lost> {
    const outcome = await withSpan(
      'commit',
      () => this.#storage.commit(checks, writes),
      (done) => ({
        'vestibule.writes': writes.length,
        'vestibule.committed': done.committed,
        ...(done.committed && done.batch !== undefined && { 'vestibule.batch': done.batch }),
      }),
    );
    if (!outcome.committed) {
      this.#optimisticCache?.lost(outcome);
      return outcome;
    }
    this.#optimisticCache?.committed(checks, writes, outcome.revision);
    this.#watchCache.committed(
      writes.map((write) => ('put' in write ? write.put : write.delete)),
      outcome.revision,
    );
    return outcome;
  }
}
