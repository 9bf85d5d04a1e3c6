import { withSpan } from '../../observability/tracer.js';
import {
  type Check,
  type Committed,
  type Lost,
  type Revision,
  type Storage,
  UnavailableError,
  type Write,
} from '../../storage/storage.js';
import { deleteOnlyFallbackOf } from '../delete-only-fallback.js';
import type { StagedWrites } from '../kind.js';
import { statusErrorOf, toStatusError } from '../status/storage-errors.js';
import type { WatchCache } from '../watchcache/watch-cache.js';
import type { OptimisticCache } from './optimistic-cache.js';

/** Receives the writes of a commit of this process, and its revision. */
export type CommitListener = (writes: readonly Write[], revision: Revision) => void;

const noWrites: StagedWrites = { checks: [], writes: [] };

/** Commits to storage, and updates the watch cache and the optimistic cache. */
export class StoreCommitter {
  readonly #storage: Storage;
  readonly #watchCache: WatchCache;
  readonly #optimisticCache: OptimisticCache | undefined;
  readonly #listeners: CommitListener[] = [];

  constructor(
    storage: Storage,
    watchCache: WatchCache,
    optimisticCache: OptimisticCache | undefined,
  ) {
    this.#storage = storage;
    this.#watchCache = watchCache;
    this.#optimisticCache = optimisticCache;
  }

  /** Calls the listener after each commit. */
  onCommit(listener: CommitListener): void {
    this.#listeners.push(listener);
  }

  /**
   * Commits staged writes with the record of their decision. When the store is out of space,
   * commits the delete-only fallback instead, without a record (docs/design/storage.md#no-space).
   */
  async commit(
    parts: readonly StagedWrites[],
    record: StagedWrites = noWrites,
  ): Promise<Committed | Lost> {
    const allParts = [...parts, record];
    const checks = allParts.flatMap((part) => part.checks);
    try {
      return await this.#write(
        checks,
        allParts.flatMap((part) => part.writes),
      );
    } catch (error) {
      const fallback =
        error instanceof UnavailableError && error.full ? deleteOnlyFallbackOf(parts) : undefined;
      if (!fallback) throw statusErrorOf(error);
      const outcome = await toStatusError(
        this.#write(
          parts.flatMap((part) => part.checks),
          fallback.writes,
        ),
      );
      if (outcome.committed) fallback.onCommitted?.();
      return outcome;
    }
  }

  async #write(checks: readonly Check[], writes: readonly Write[]): Promise<Committed | Lost> {
    const outcome = await withSpan(
      'commit',
      () => this.#storage.commit(checks, writes),
      (result) => ({
        'vestibule.writes': writes.length,
        'vestibule.committed': result.committed,
        ...(result.committed && result.batch !== undefined && { 'vestibule.batch': result.batch }),
      }),
    );
    if (!outcome.committed) {
      this.#optimisticCache?.recordConflict(outcome);
      return outcome;
    }
    this.#optimisticCache?.recordCommit(checks, writes, outcome.revision);
    this.#watchCache.recordCommit(
      writes.map((write) => ('put' in write ? write.put : write.delete)),
      outcome.revision,
    );
    for (const listener of this.#listeners) listener(writes, outcome.revision);
    return outcome;
  }
}
