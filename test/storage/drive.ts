import type {
  Batch,
  Change,
  Committed,
  Lost,
  Range,
  Revision,
  Storage,
  WatchOptions,
  Write,
} from '../../storage/storage.js';

/** Everything a store holds. */
export const everything: Range = { start: '!', end: '~~' };

export const bytes = (text: string): Buffer => Buffer.from(text);

/** Puts texts without checks; answers the revision. */
export async function put(storage: Storage, values: Record<string, string>): Promise<Revision> {
  return made(
    await storage.commit(
      [],
      Object.entries(values).map(([key, value]) => ({ put: key, value: bytes(value) })),
    ),
  );
}

/** Deletes without checks; answers the revision. */
export async function remove(storage: Storage, ...keys: string[]): Promise<Revision> {
  return made(
    await storage.commit(
      [],
      keys.map((key) => ({ delete: key })),
    ),
  );
}

/** The revision of a commit that must not have lost. */
export function made(result: Committed | Lost): Revision {
  if (!result.committed) throw new Error(`lost against ${[...result.winners.keys()].join(', ')}`);
  return result.revision;
}

/** The text under a key now. */
export const text = async (storage: Storage, key: string): Promise<string | undefined> =>
  (await storage.get(key)).entry?.value.toString();

/** A read, asked again where the machine was too slow to answer it in the time a caller waits. */
export async function answered<T>(read: () => Promise<T>, tries = 5): Promise<T> {
  return read().catch((error: Error) => {
    if (error.name !== 'UnavailableError' || tries === 1) throw error;
    return answered(read, tries - 1);
  });
}

/** A counter raised by compare-and-set until it succeeds. */
export async function increment(storage: Storage, key: string): Promise<void> {
  for (;;) {
    const { entry } = await storage.get(key);
    const write: Write = {
      put: key,
      value: bytes(String(Number(entry?.value.toString() ?? 0) + 1)),
    };
    const result = await storage.commit([{ key, is: entry?.revision ?? 'absent' }], [write]);
    if (result.committed) return;
  }
}

/** A change as `key=value<before`, with `-` for nothing. */
export const summaryOf = ({ key, entry, before }: Change): string =>
  `${key}=${entry?.value.toString() ?? '-'}<${before?.value.toString() ?? '-'}`;

/** A watch that is read in the background. */
export class Watched {
  readonly batches: Batch[] = [];
  /** Settles when the watch ends; rejects with what it threw. */
  readonly ended: Promise<void>;
  readonly #abort = new AbortController();
  #wake: () => void = () => undefined;
  #failure: unknown;
  #done = false;

  constructor(storage: Storage, prefix: string, from: Revision, options?: WatchOptions) {
    this.ended = this.#read(storage, prefix, from, options)
      .catch((error: unknown) => {
        this.#failure = error;
        throw error;
      })
      .finally(() => {
        this.#done = true;
        this.#wake();
      });
    this.ended.catch(() => undefined);
  }

  /** All changes so far. */
  get changes(): Change[] {
    return this.batches.flatMap(({ changes }) => changes);
  }

  /** Waits until nothing up to the revision is missing. */
  reached(revision: Revision): Promise<this> {
    return this.until(() => (this.batches.at(-1)?.revision ?? 0) >= revision);
  }

  async until(holds: () => boolean): Promise<this> {
    while (!holds()) {
      if (this.#done) throw this.#failure ?? new Error('the watch ended');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this;
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.ended;
  }

  async #read(
    storage: Storage,
    prefix: string,
    from: Revision,
    options?: WatchOptions,
  ): Promise<void> {
    for await (const batch of storage.watch(prefix, from, this.#abort.signal, options)) {
      this.batches.push(batch);
      this.#wake();
    }
  }
}
