import { toStatusError } from '../../../registry/storage-errors.js';
import { keyTypes, type KeyIDs, type Keys } from '../../../security/keyring.js';
import type { Log } from '../../../observability/log.js';
import type { Storage } from '../../../storage/storage.js';

const key = 'meta/dropped-keys';

/** Milliseconds until a store that could not be reached is asked again. */
const retry = 1_000;

/** The ids of keys by sort, none where there are none. */
type Listed = Partial<Record<keyof KeyIDs, readonly string[]>>;

const parsed = (value: Buffer | undefined): Listed =>
  value ? (JSON.parse(value.toString()) as Listed) : {};

/**
 * Those of the ids that are gone, of sorts of which one at least stayed: a file with other keys
 * altogether is no step of a rotation.
 */
export function goneFrom(before: KeyIDs, after: KeyIDs): Listed {
  const gone = keyTypes.map(
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
 * Which keys were dropped, in the store: the first replica whose keys file lacks them writes it,
 * and every replica stops opening and verifying by them as it hears of it, whatever its own file
 * still says. A dropped key does not come back.
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

  /** Takes over what was dropped before, and follows what is dropped from now on. */
  async start(): Promise<void> {
    const revision = await this.#load();
    this.#running = this.#follow(revision);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#writing;
    await this.#running;
  }

  /** Tells every replica which keys are gone; tried until the store takes it. */
  drop(gone: Listed): void {
    if (Object.keys(gone).length > 0) this.#writing = this.#writing.then(() => this.#write(gone));
  }

  async #write(gone: Listed): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const { entry } = await this.#storage.get(key);
        const listed = parsed(entry?.value);
        const all = Object.fromEntries(
          keyTypes.map((sort) => [
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
        this.#log.warn(
          { err: error },
          'other replicas could not be told yet which keys were dropped',
        );
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
        'every key of the keys file was dropped on another replica: give this one the keys file that the others have',
      );
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      setTimeout(resolve, retry).unref();
      this.#stop.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}
