import type { Log } from '../../../observability/log.js';
import { type Entry, type Storage, startAfter, type Write } from '../../../storage/storage.js';
import { EncodedObject, objectsRange } from '../../encoded-object.js';
import type { AnyKind } from '../../kind.js';
import { indexRows } from '../lifecycle/index-rows.js';
import { startBackgroundTask } from './background-task.js';

/** Objects whose rows are written in one commit. */
const pageSize = 10;

const recordKey = ({ storageName }: AnyKind): string => `meta/indexes/${storageName}`;
const isIndexed = ({ orders, search }: AnyKind): boolean =>
  search !== undefined || Object.keys(orders).length > 0;

/**
 * Which indexes of a store are complete (docs/design/storage.md#indexes). Transactions keep their rows;
 * those of objects from before a release had the index are written in the background.
 */
export class Indexes {
  readonly #storage: Storage;
  readonly #kinds: readonly AnyKind[];
  readonly #complete = new Set<string>();

  constructor(storage: Storage, kinds: readonly AnyKind[]) {
    this.#storage = storage;
    this.#kinds = kinds.filter(isIndexed);
  }

  /** Whether lists of a kind may be read from its indexes. */
  isComplete(kind: AnyKind): boolean {
    return this.#complete.has(kind.storageName);
  }

  /** Completes the indexes in the background; returns what ends it. Reads what is complete at once. */
  async start(log: Log): Promise<() => Promise<void>> {
    for (const kind of this.#kinds) await this.#readRecord(kind);
    return startBackgroundTask({
      step: (signal) => this.#completeAll(log, signal),
      isDone: () => this.#kinds.every((kind) => this.isComplete(kind)),
      onError: (error) => log.error({ err: error }, 'an index could not be completed'),
    });
  }

  async #completeAll(log: Log, signal: AbortSignal): Promise<void> {
    for (const kind of this.#kinds) {
      if (this.isComplete(kind) || (await this.#readRecord(kind))) continue;
      const count = await this.#writeRows(kind, signal);
      if (signal.aborted) return;
      await this.#writeRecord(kind);
      if (count > 0) log.info({ kind: kind.kind, objects: count }, 'an index was completed');
    }
  }

  /** The record of a kind names its indexes: one more makes it incomplete. */
  #definition({ orders, search }: AnyKind): Buffer {
    return Buffer.from(JSON.stringify([...Object.keys(orders), ...(search ? ['search'] : [])]));
  }

  async #readRecord(kind: AnyKind): Promise<boolean> {
    const { entry } = await this.#storage.get(recordKey(kind));
    const isComplete = entry?.value.equals(this.#definition(kind)) ?? false;
    if (isComplete) this.#complete.add(kind.storageName);
    return isComplete;
  }

  async #writeRecord(kind: AnyKind): Promise<void> {
    const value = this.#definition(kind);
    await this.#storage.commit([], [{ put: recordKey(kind), value }]);
    this.#complete.add(kind.storageName);
  }

  async #writeRows(kind: AnyKind, signal: AbortSignal): Promise<number> {
    const { start: first, end } = objectsRange(kind);
    let count = 0;
    for (let start = first; !signal.aborted; ) {
      const { entries, more } = await this.#storage.list({ start, end }, { limit: pageSize });
      await this.#writeRowsOf(kind, entries);
      count += entries.length;
      if (more === 0) break;
      start = startAfter(entries);
    }
    return count;
  }

  /** Writes the rows of objects; who changes one in between has written its rows. */
  async #writeRowsOf(kind: AnyKind, entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) {
      const { object } = new EncodedObject(kind, entry);
      const { expires } = entry;
      const writes = indexRows(kind, object).map(
        (put): Write => ({
          put,
          value: Buffer.alloc(0),
          ...(expires !== undefined && { expires }),
        }),
      );
      await this.#storage.commit([{ key: entry.key, is: entry.revision }], writes);
    }
  }
}
