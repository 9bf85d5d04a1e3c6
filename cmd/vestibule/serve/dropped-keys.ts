import { toStatusError } from '../../../registry/storage-errors.js';
import { allSorts, type KeyIDs, type Keys } from '../../../security/keyring.js';
import type { Log } from '../../../observability/log.js';
import type { Storage } from '../../../storage/storage.js';

const key = 'meta/dropped-keys';

/** Milliseconds until a failed request to the store is tried again. */
const retry = 1_000;

/** Key ids by type; types without ids are absent. */
type Listed = Partial<Record<keyof KeyIDs, readonly string[]>>;

const parsed = (value: Buffer | undefined): Listed =>
  value ? (JSON.parse(value.toString()) as Listed) : {};

/**
 * Returns the ids that `after` lacks, by type. Types that share no id are left out: a completely
 * different file is no step of a rotation.
 */
export function goneFrom(before: KeyIDs, after: KeyIDs): Listed {
  const gone = allSorts.map(
    (sort) =>
      [
        sort,
        before[sort].some((id) => after[sort].includes(id))
          ? before[sort].filter((id) => !after[sort].includes(id))
          : [],
      ] as const,
  );
  return Object.fromEntries(gone.filter(([, ids]) => ids.length > 0));
}

/**
 * The dropped keys, recorded in the store. The first replica whose keys file lacks them writes the
 * record, and every replica stops using them, whatever its own file says. A dropped key never comes
 * back.
 */
export class DroppedKeys {
  readonly #storage: Storage;
  readonly #keys: Keys;
  readonly #log: Log;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  #writing: Promise<unknown> = Promise.resolve();

  constructor(storage: Storage, keys: Keys, log: Log) {
    this.#storage = storage;
    this.#keys = keys;
    this.#log = log;
  }

  /** Loads the dropped keys, and watches for more. */
  async start(): Promise<void> {
    const revision = await this.#load();
    this.#running = this.#follow(revision);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#writing;
    await this.#running;
  }

  /** Records dropped keys for every replica; retries until the store accepts it. */
  drop(gone: Listed): void {
    if (Object.keys(gone).length > 0) this.#writing = this.#writing.then(() => this.#write(gone));
  }

  async #write(gone: Listed): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const { entry } = await this.#storage.get(key);
        const listed = parsed(entry?.value);
        const all = Object.fromEntries(
          allSorts.map((sort) => [
            sort,
            [...new Set([...(listed[sort] ?? []), ...(gone[sort] ?? [])])],
          ]),
        );
        const { committed } = await this.#storage.commit(
          [{ key, is: entry?.revision ?? 'absent' }],
          [{ put: key, value: Buffer.from(JSON.stringify(all)) }],
        );
        if (committed) return;
      } catch (error) {
        this.#log.warn({ err: error }, 'recording the dropped keys failed; retrying');
        await this.#pause();
      }
    }
  }

  async #load(): Promise<number> {
    const { entry, revision } = await toStatusError(this.#storage.get(key));
    this.#take(entry?.value);
    return revision;
  }

  async #follow(from: number): Promise<void> {
    const { signal } = this.#stop;
    for (let revision = from; !signal.aborted; ) {
      try {
        await this.#watch(revision, signal);
      } catch (error) {
        this.#log.warn({ err: error }, 'the watch on dropped keys was interrupted');
      }
      if (signal.aborted) return;
      await this.#pause();
      revision = await this.#load().catch(() => revision);
    }
  }

  async #watch(from: number, signal: AbortSignal): Promise<void> {
    for await (const { changes } of this.#storage.watch(key, from, signal))
      for (const change of changes) if (change.key === key) this.#take(change.entry?.value);
  }

  #take(value: Buffer | undefined): void {
    const exhausted = this.#keys.drop(parsed(value));
    if (exhausted.length > 0)
      this.#log.error(
        { sorts: exhausted },
        'every key of the keys file was dropped on another replica; give this replica the keys file of the others',
      );
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      setTimeout(resolve, retry).unref();
      this.#stop.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}
