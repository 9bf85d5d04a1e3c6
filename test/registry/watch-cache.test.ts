import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { WatchCacheEvent } from '../../registry/watchcache/event.js';
import type { Subscription } from '../../registry/watchcache/watch-cache.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import type { Batch, Storage } from '../../storage/storage.js';
import { until } from '../provider/support/fixture.js';
import { expectFor } from '../support/expect-for.js';
import { Room, Thing } from './room.js';

let directory: string;
let real: Storage;
const rooms: Room[] = [];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'vestibule-watch-cache-'));
  real = await openEmbedded({ directory });
});
afterEach(async () => {
  for (const room of rooms.splice(0)) await room.close();
  await real.close();
  rmSync(directory, { recursive: true });
});

async function open(storage: Storage = real): Promise<Room> {
  const room = await Room.open(storage);
  rooms.push(room);
  return room;
}

/** A storage whose watches can be held up, as by a network that says nothing. */
function muffled(): {
  storage: Storage;
  hold(): void;
  release(): void;
  from(asOf: () => number): void;
} {
  let held: Promise<void> = Promise.resolve();
  let free = (): void => {};
  let asOf = (): number => performance.now();
  async function* watch(prefix: string, from: number, signal: AbortSignal): AsyncIterable<Batch> {
    for await (const batch of real.watch(prefix, from, signal)) {
      await held;
      if (signal.aborted) return;
      yield { ...batch, asOf: asOf() };
    }
  }
  const storage: Storage = {
    get: (key) => real.get(key),
    list: (...args) => real.list(...args),
    count: (range) => real.count(range),
    commit: (...args) => real.commit(...args),
    compact: (revision) => real.compact(revision),
    close: async () => {},
    watch,
  };
  return {
    storage,
    hold: () => {
      held = new Promise((resolve) => {
        free = resolve;
      });
    },
    release: () => {
      free();
    },
    from: (when) => {
      asOf = when;
    },
  };
}

/** What one subscriber receives. */
class Listener {
  readonly received: string[] = [];
  ended: string | undefined;
  readonly subscription: Subscription;

  constructor(room: Room, from: number) {
    this.subscription = room.watchCache.subscribe('things', from, this);
  }

  event({ before, after, revision }: WatchCacheEvent): void {
    this.received.push(
      `${revision} ${before?.name ?? '-'} ${after ? (after.object.spec as { size: number }).size : 'gone'}`,
    );
  }
  end(why: string): void {
    this.ended = why;
  }
}

const sizes = (listener: Listener): string[] =>
  listener.received.map((line) => line.split(' ')[2]!);
const revision = async (): Promise<number> => (await real.get('meta/any')).revision;
const sizeOf = async (room: Room, name: string): Promise<unknown> =>
  ((await room.store.cached(Thing, name))?.object.spec as { size: number } | undefined)?.size;

describe('the cache', () => {
  test('shows a replica its own write at once, and another’s as soon as it is heard', async () => {
    const [one, two] = [await open(), await open()];
    await one.put('a', { size: 0 });
    for (let size = 1; size <= 50; size += 1) {
      await one.put('a', { size });
      expect(await sizeOf(one, 'a')).toBe(size);
    }
    await two.watchCache.waitUntil(await revision(), 60_000);
    expect(await sizeOf(two, 'a')).toBe(50);
    await two.remove('a');
    expect(await sizeOf(two, 'a')).toBeUndefined();
    await one.watchCache.waitUntil(await revision(), 60_000);
    expect(await sizeOf(one, 'a')).toBeUndefined();
  });

  test('never goes back, however reads and writes of two replicas meet', async () => {
    const [one, two] = [await open(), await open()];
    await one.put('a', { size: 0 });
    const over = new AbortController();
    const readers = [one, two].map(async (room) => {
      for (let last = 0; !over.signal.aborted; ) {
        const seen = (await sizeOf(room, 'a')) as number;
        expect(seen).toBeGreaterThanOrEqual(last);
        last = seen;
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
    });
    for (let size = 1; size <= 200; size += 1) await (size % 2 ? one : two).put('a', { size });
    over.abort();
    await Promise.all(readers);
  });

  test('is not used after two seconds of silence, and says so after ten', async () => {
    const { storage, hold, release } = muffled();
    const [deaf, other] = [await open(storage), await open()];
    await deaf.put('a', { size: 1 });
    await deaf.watchCache.waitUntil(await revision(), 60_000);
    expect(await sizeOf(deaf, 'a')).toBe(1);
    hold();
    await until(async () => deaf.watchCache.lagMs > 100, 'silence');
    await other.put('a', { size: 2 });
    await until(async () => deaf.watchCache.lagMs > 2_000, 'two seconds of it');
    expect(await sizeOf(deaf, 'a')).toBe(2);
    expect(deaf.watchCache.isReady).toBe(true);
    const now = performance.now;
    try {
      performance.now = () => now.call(performance) + 10_000;
      expect(deaf.watchCache.isReady).toBe(false);
    } finally {
      performance.now = now;
    }
    release();
    await until(async () => deaf.watchCache.lagMs < 1_000, 'the watch cache again');
    expect(deaf.watchCache.isReady).toBe(true);
  });
});

describe('what a store reports as of an earlier time', () => {
  test('is taken over, and makes the cache no newer than it was then', async () => {
    const { storage, from } = muffled();
    const behind = await open(storage);
    await behind.put('a', { size: 1 });
    await behind.put('b', { size: 1 });
    await behind.watchCache.waitUntil(await revision(), 60_000);
    for (const name of ['a', 'b']) expect(await sizeOf(behind, name)).toBe(1);
    expect(behind.watchCache.peek('objects/things/a')).toBeDefined();
    const then = performance.now();
    from(() => then - 500);
    const now = performance.now;
    try {
      performance.now = () => then + 1_900;
      await (await open()).put('b', { size: 2 });
      await until(
        async () => behind.watchCache.revision === (await revision()),
        'what is written elsewhere',
      );
      expect(behind.watchCache.peek('objects/things/b')?.stored).toMatchObject({
        object: { spec: { size: 2 } },
      });
      performance.now = () => then + 2_001;
      expect(behind.watchCache.lagMs).toBeGreaterThan(2_000);
      expect(behind.watchCache.peek('objects/things/a')).toBeUndefined();
      expect(behind.watchCache.isFresh('things')).toBe(false);
      from(() => then + 2_000);
      await (await open()).put('b', { size: 3 });
      await until(async () => behind.watchCache.revision === (await revision()), 'more of it');
      expect(behind.watchCache.peek('objects/things/a')).toBeDefined();
    } finally {
      performance.now = now;
    }
  });
});

describe('a subscriber', () => {
  test('receives every change after its start once, in order, with the object before it', async () => {
    const room = await open();
    await room.put('early', { size: 1 });
    const from = await revision();
    const listener = new Listener(room, from);
    await room.put('a', { size: 2 });
    await room.put('a', { size: 3 });
    await room.remove('a');
    await room.watchCache.waitUntil(await revision(), 60_000);
    expect(listener.received.map((line) => line.split(' ').slice(1).join(' '))).toEqual([
      '- 2',
      'a 3',
      'a gone',
    ]);
    listener.subscription.leave();
    await room.put('a', { size: 9 });
    await room.watchCache.waitUntil(await revision(), 60_000);
    expect(listener.received).toHaveLength(3);
  });

  test('that begins in the past gets what it missed, without gap or repetition', async () => {
    const first = await open();
    const starts = [await revision()];
    for (let size = 1; size <= 20; size += 1) {
      await first.put('a', { size });
      starts.push(await revision());
    }
    const late = await open();
    for (let size = 21; size <= 40; size += 1) {
      await first.put('a', { size });
      starts.push(await revision());
    }
    for (const room of [first, late]) {
      const listeners = starts.map((from) => new Listener(room, from));
      for (let size = 41; size <= 45; size += 1) await first.put('a', { size });
      await until(
        async () => listeners.every((listener) => sizes(listener).at(-1) === '45'),
        'everybody',
      );
      for (const [i, listener] of listeners.entries()) {
        expectFor(i, sizes(listener).slice(0, 40 - i)).toEqual(
          Array.from({ length: 40 - i }, (_, n) => String(i + 1 + n)),
        );
      }
      for (const { received, subscription } of listeners) {
        expect(new Set(received).size).toBe(received.length);
        subscription.leave();
      }
    }
  });

  test('whose start is compacted is ended, others are not', async () => {
    const room = await open();
    await room.put('a', { size: 1 });
    const old = await revision();
    for (let size = 2; size <= 5; size += 1) await room.put('a', { size });
    const second = await open();
    const alive = new Listener(second, await revision());
    await real.compact(await revision());
    const dead = new Listener(second, old - 1);
    await until(async () => dead.ended !== undefined, 'the end');
    expect([dead.ended, dead.received, alive.ended]).toEqual(['Compacted', [], undefined]);
    await room.put('a', { size: 6 });
    await until(async () => alive.received.length === 1, 'the other');
  });

  test('that leaves while the watch cache waits for it receives nothing more', async () => {
    const room = await open();
    const from = await revision();
    for (let size = 1; size <= 150; size += 1) await room.put('a', { size });
    await room.watchCache.waitUntil(await revision(), 60_000);
    let [received, asked] = [0, 0];
    let goOn = (): void => {};
    const waiting = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { leave } = room.watchCache.subscribe('things', from, {
      event: () => {
        received += 1;
      },
      end: () => {},
      ready: () => {
        asked += 1;
        return waiting;
      },
    });
    await until(async () => asked > 0, 'the part that it waits before');
    const before = received;
    leave();
    goOn();
    await room.put('a', { size: 151 });
    await room.watchCache.waitUntil(await revision(), 60_000);
    expect([before < 150, received]).toEqual([true, before]);
  });

  test('is ended when the watch cache stops', async () => {
    const room = await open();
    const listener = new Listener(room, await revision());
    await rooms.pop()!.close();
    expect(listener.ended).toBe('Stopped');
  });
});

test('a watch cache that was cut off past a compaction starts over', async () => {
  const { storage, hold, release } = muffled();
  const [deaf, other] = [await open(storage), await open()];
  await deaf.put('a', { size: 1 });
  await deaf.watchCache.waitUntil(await revision(), 60_000);
  const listener = new Listener(deaf, await revision());
  let [gaps, latest] = [0, 0];
  deaf.watchCache.subscribe('things', await revision(), {
    event: ({ after }) => {
      latest = (after!.object.spec as { size: number }).size;
    },
    gap: () => {
      gaps += 1;
    },
  });
  hold();
  for (let size = 2; size <= 20; size += 1) await other.put('a', { size });
  await real.compact(await revision());
  release();
  await until(async () => (await sizeOf(deaf, 'a')) === 20, 'what is true now');
  await until(
    async () => listener.ended !== undefined || sizes(listener).at(-1) === '20',
    'the listener',
  );
  expect(listener.ended ?? sizes(listener)).toEqual(
    listener.ended ? 'Compacted' : Array.from({ length: 19 }, (_, i) => String(i + 2)),
  );
  await other.put('a', { size: 21 });
  await until(async () => latest === 21, 'who goes on');
  expect(gaps > 0).toBe(listener.ended !== undefined);
});
