import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../../../observability/log.js';
import { secondMs } from '../../../../registry/schema/units.js';
import { toStatusError } from '../../../../registry/status/storage-errors.js';
import { type KeyIDs, type Keys, keyTypes } from '../../../../security/keyring.js';
import type { Storage } from '../../../../storage/storage.js';
import { followValues } from '../follow-values.js';

const key = 'meta/dropped-keys';

/** Key ids by type; types without ids are absent. */
type KeyIDsByType = Partial<Record<keyof KeyIDs, readonly string[]>>;

const parseRecord = (value: Buffer | undefined): KeyIDsByType =>
  value ? (JSON.parse(value.toString()) as KeyIDsByType) : {};

/**
 * Returns the ids that `after` lacks, by type. Types that share no id are left out: a completely
 * different file is no step of a rotation.
 */
export function droppedKeys(before: KeyIDs, after: KeyIDs): KeyIDsByType {
  const dropped = keyTypes.map(
    (sort) =>
      [
        sort,
        before[sort].some((id) => after[sort].includes(id))
          ? before[sort].filter((id) => !after[sort].includes(id))
          : [],
      ] as const,
  );
  return Object.fromEntries(dropped.filter(([, ids]) => ids.length > 0));
}

/**
 * The dropped keys, recorded in the store. The first replica whose keys file lacks them writes the
 * record, and every replica stops using them, even if its own file lists them. A dropped key never comes
 * back.
 */
export class DroppedKeys {
  readonly #storage: Storage;
  readonly #keys: Keys;
  readonly #log: Log;
  readonly #stop = new AbortController();
  #watching: Promise<unknown> = Promise.resolve();
  #pendingWrite: Promise<unknown> = Promise.resolve();

  constructor(storage: Storage, keys: Keys, log: Log) {
    this.#storage = storage;
    this.#keys = keys;
    this.#log = log;
  }

  /** Loads the dropped keys, and watches for more. */
  async start(): Promise<void> {
    await this.#load();
    this.#watching = followValues(
      { storage: this.#storage, prefix: key, signal: this.#stop.signal, log: this.#log },
      () => this.#load(),
      (changed, value) => {
        if (changed === key) this.#apply(value);
      },
    );
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#pendingWrite;
    await this.#watching;
  }

  /** Records dropped keys for every replica; retries until the store accepts it. */
  drop(dropped: KeyIDsByType): void {
    if (Object.keys(dropped).length > 0) {
      this.#pendingWrite = this.#pendingWrite.then(() => this.#write(dropped));
    }
  }

  async #write(dropped: KeyIDsByType): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const { entry } = await this.#storage.get(key);
        const recorded = parseRecord(entry?.value);
        const recordedKeys = Object.fromEntries(
          keyTypes.map((sort) => [
            sort,
            [...new Set([...(recorded[sort] ?? []), ...(dropped[sort] ?? [])])],
          ]),
        );
        const { committed } = await this.#storage.commit(
          [{ key, is: entry?.revision ?? 'absent' }],
          [{ put: key, value: Buffer.from(JSON.stringify(recordedKeys)) }],
        );
        if (committed) return;
      } catch (error) {
        this.#log.warn({ err: error }, 'recording the dropped keys failed; retrying');
        const { signal } = this.#stop;
        await pause(secondMs, undefined, { ref: false, signal }).catch(() => {});
      }
    }
  }

  async #load(): Promise<number> {
    const { entry, revision } = await toStatusError(this.#storage.get(key));
    this.#apply(entry?.value);
    return revision;
  }

  #apply(value: Buffer | undefined): void {
    const exhausted = this.#keys.drop(parseRecord(value));
    if (exhausted.length > 0) {
      this.#log.error(
        { sorts: exhausted },
        'every key of the keys file was dropped on another replica; give this replica the keys file of the others',
      );
    }
  }
}
