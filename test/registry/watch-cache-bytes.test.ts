import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createLog } from '../../observability/log.js';
import { WatchCacheEvent } from '../../registry/watchcache/event.js';
import { WatchCache } from '../../registry/watchcache/watch-cache.js';
import type { Batch, Entry, Storage } from '../../storage/storage.js';
import { Thing } from './room.js';

const mebibyte = 1 << 20;
const large = Buffer.alloc(mebibyte);
const small = Buffer.alloc(64);

/** A storage that reports what the test says, and remembers the requests for history. */
class Scripted {
  value = large;
  readonly catchUps: number[] = [];
  readonly reads: string[] = [];
  #revision = 1;
  #queue: Batch[] = [];
  #wake: () => void = () => {};

  get storage(): Storage {
    return {
      get: async (key: string) => {
        this.reads.push(key);
        return { entry: this.#entry(key), revision: this.#revision };
      },
      watch: (prefix: string, from: number, signal: AbortSignal) =>
        this.#watch(prefix, from, signal),
    } as unknown as Storage;
  }

  #entry(key: string): Entry {
    return { key, value: this.value, revision: this.#revision };
  }

  /** One change of one object, heard by the watch cache at once. */
  async change(watchCache: WatchCache, name: string, gone = false): Promise<void> {
    this.#revision += 1;
    const key = `objects/things/${name}`;
    this.#queue.push({
      revision: this.#revision,
      changes: [{ key, ...(gone ? {} : { entry: this.#entry(key) }) }],
    } as Batch);
    this.#wake();
    await watchCache.waitUntil(this.#revision, 60_000);
  }

  async *#watch(prefix: string, from: number, signal: AbortSignal): AsyncIterable<Batch> {
    if (prefix !== 'objects/') return void this.catchUps.push(from);
    signal.addEventListener('abort', () => this.#wake(), { once: true });
    while (!signal.aborted) {
      const next = this.#queue.shift();
      if (next) {
        yield next;
        continue;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

let scripted: Scripted;
let watchCache: WatchCache;
beforeEach(async () => {
  scripted = new Scripted();
  watchCache = new WatchCache(scripted.storage, [Thing], createLog('silent'), 32 << 20);
  await watchCache.start();
});
afterEach(() => watchCache.stop());

const name = (i: number): string => `n${String(i).padStart(4, '0')}`;
const key = (i: number): string => `objects/things/${name(i)}`;
const heldOf = (max: number): number[] =>
  Array.from({ length: max }, (_, i) => i).filter((i) => watchCache.peek(key(i))?.stored);

describe('the ring of what happened', () => {
  /**
   * The revisions that a watcher from the beginning receives from memory, and in how many parts.
   */
  async function received(): Promise<{ seen: number[]; parts: number }> {
    const seen: number[] = [];
    let parts = 1;
    const ready = async (): Promise<void> => {
      parts += 1;
    };
    const subscription = watchCache.subscribe('things', 1, {
      event: ({ revision }: WatchCacheEvent) => {
        seen.push(revision);
      },
      ready,
      end() {},
    });
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    subscription.leave();
    return { seen, parts };
  }

  test('keeps many small changes', async () => {
    scripted.value = small;
    for (let i = 0; i < 500; i += 1) await scripted.change(watchCache, name(i));
    expect(await received()).toEqual({
      seen: Array.from({ length: 500 }, (_, i) => i + 2),
      parts: 5,
    });
    expect(scripted.catchUps).toEqual([]);
  });

  test('holds no more than sixteen mebibytes: who wants older ones is sent to the store', async () => {
    for (let i = 0; i < 16; i += 1) await scripted.change(watchCache, name(i));
    expect(await received()).toEqual({
      seen: Array.from({ length: 16 }, (_, i) => i + 2),
      parts: 16,
    });
    await scripted.change(watchCache, name(16));
    expect((await received()).seen).toEqual([]);
    expect(scripted.catchUps).toEqual([1]);
  });
});

describe('the cache', () => {
  // An object of a mebibyte counts as three: ten in each of two generations.
  test('holds the newest of what was read, by the memory that it takes', async () => {
    for (let i = 0; i < 100; i += 1) await watchCache.cached(Thing, key(i));
    const held = heldOf(100);
    expect(held).toEqual(expect.arrayContaining([97, 98, 99]));
    expect(Math.min(...held)).toBeGreaterThanOrEqual(80);
  });

  test('keeps what is read again and again', async () => {
    for (let i = 0; i < 100; i += 1) {
      await watchCache.cached(Thing, key(0));
      await watchCache.cached(Thing, key(i));
    }
    expect(scripted.reads.filter((read) => read === key(0))).toHaveLength(1);
  });

  test('counts what objects grow to, and what a deletion frees', async () => {
    scripted.value = small;
    for (let i = 0; i < 80; i += 1) await watchCache.cached(Thing, key(i));
    expect(heldOf(80)).toHaveLength(80);
    scripted.value = large;
    for (let i = 0; i < 80; i += 1) await scripted.change(watchCache, name(i));
    const held = heldOf(80);
    expect(held.length).toBeLessThanOrEqual(20);
    for (const i of held) await scripted.change(watchCache, name(i), true);
    scripted.value = small;
    for (let i = 100; i < 164; i += 1) await watchCache.cached(Thing, key(i));
    expect(heldOf(164)).toHaveLength(64);
  });
});

test('of one event few views are kept, each made once while it is', () => {
  const event = new WatchCacheEvent(
    Thing,
    { key: 'objects/things/a', entry: { key: 'objects/things/a', value: small, revision: 2 } },
    2,
  );
  let made = 0;
  const look = (view: string): string =>
    event
      .shared(view, () => {
        made += 1;
        return Buffer.from(view);
      })
      .toString();
  for (let second = 0; second < 100; second += 1) {
    for (const view of ['ADDED', `ADDED table ${second}`, `ADDED table ${second}`]) {
      expect(look(view)).toBe(view);
    }
  }
  expect(made).toBeLessThanOrEqual(100 + 100 / 7 + 1);
});
