import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { outcomeOf } from '../../apiserver/chain/outcome.js';
import type { Authorizer } from '../../registry/authorizer.js';
import type { EncodedObject } from '../../registry/encoded-object.js';
import type { Transaction } from '../../registry/kind.js';
import { conflict, forbidden } from '../../registry/status/status.js';
import { OptimisticCache } from '../../registry/store/optimistic-cache.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import type { Batch, Entry, Storage } from '../../storage/storage.js';
import { Room, Thing } from './room.js';

const entry = (key: string, revision: number, value = 'v'): Entry => ({
  key,
  revision,
  value: Buffer.from(value),
});
const put = (key: string, value = 'v') => ({ put: key, value: Buffer.from(value) });

describe('what a replica remembers', () => {
  test('is what it read and wrote, and never older than what the watch reported', () => {
    const memory = new OptimisticCache();
    memory.recordCommit(
      [
        { key: 'a', is: 1 },
        { key: 'b', is: 'absent' },
        { key: 'c', is: 4 },
      ],
      [put('a'), { ...put('b'), expires: 9 }, put('unread'), { delete: 'c' }],
      5,
    );
    expect(['a', 'b', 'c', 'unread'].map((key) => memory.get(key))).toEqual([
      entry('a', 5),
      { ...entry('b', 5), expires: 9 },
      undefined,
      undefined,
    ]);
    memory.recordChange({ key: 'a', entry: entry('a', 7, 'theirs') });
    memory.recordCommit([{ key: 'a', is: 1 }], [put('a')], 6);
    expect(memory.get('a')).toEqual(entry('a', 7, 'theirs'));
    memory.recordConflict({
      committed: false,
      revision: 9,
      winners: new Map([
        ['a', entry('a', 8)],
        ['b', undefined],
        ['d', entry('d', 3)],
      ]),
    });
    expect(['a', 'b', 'd'].map((key) => memory.get(key)?.revision)).toEqual([8, undefined, 3]);
    memory.recordChange({ key: 'd' });
    memory.recordChange({ key: 'e', entry: entry('e', 10) });
    expect(['d', 'e'].map((key) => memory.get(key))).toEqual([undefined, undefined]);
  });

  test('is in memory of its own, not in the pool of small buffers', () => {
    const memory = new OptimisticCache();
    memory.recordCommit([{ key: 'a', is: 1 }], [put('a', 'x'.repeat(300))], 5);
    expect(memory.get('a')?.value.buffer.byteLength).toBe(300);
  });

  test('is bounded in entries and in bytes: what was written longest ago goes', () => {
    const memory = new OptimisticCache();
    const write = (key: string, value?: string): void =>
      memory.recordCommit([{ key, is: 'absent' }], [put(key, value)], Number(key) + 1);
    for (let i = 0; i < 10_001; i += 1) write(String(i));
    expect([memory.get('0'), memory.get('1')?.revision]).toEqual([undefined, 2]);
    for (let i = 20_000; i < 20_017; i += 1) write(String(i), 'x'.repeat(1 << 20));
    expect([memory.get('10000'), memory.get('20000'), memory.get('20001')?.revision]).toEqual([
      undefined,
      undefined,
      20_002,
    ]);
  });
});

describe('a store that is far away', () => {
  let directory: string;
  let near: Storage;
  let reads: string[];
  let commits: number;
  let deaf: boolean;
  let one: Room;
  let two: Room;

  async function* heard(batches: AsyncIterable<Batch>): AsyncGenerator<Batch> {
    for await (const batch of batches) {
      yield deaf ? { revision: batch.revision, changes: [] } : batch;
    }
  }
  /**
   * As a driver that asks another process: nothing is at hand, reads and commits are counted, and
   * its watch may miss what others write.
   */
  const far = (): Storage => ({
    get: (key) => {
      reads.push(key);
      return near.get(key);
    },
    commit: (checks, writes) => {
      commits += 1;
      return near.commit(checks, writes);
    },
    watch: (...asked) => heard(near.watch(...asked)),
    list: near.list.bind(near),
    count: near.count.bind(near),
    compact: near.compact.bind(near),
    close: async () => {},
  });

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'vestibule-optimistic-cache-'));
    near = await openEmbedded({ directory });
    [reads, commits, deaf] = [[], 0, false];
    [one, two] = [await Room.open(far()), await Room.open(far())];
    await one.put('a', { size: 1 });
    [reads, commits] = [[], 0];
  });
  afterEach(async () => {
    for (const room of [one, two]) await room.close();
    await near.close();
    rmSync(directory, { recursive: true });
  });
  const sizeOf = async (name: string): Promise<number | undefined> =>
    (await two.store.reader(Thing).get(name))?.spec.size;

  test('is not asked for what this replica wrote itself', async () => {
    for (let size = 2; size < 6; size += 1) await one.put('a', { size });
    expect([[...reads], commits, await sizeOf('a')]).toEqual([[], 4, 5]);
  });

  test('is not asked for what another changed, after the watch has reported it', async () => {
    await two.put('a', { size: 7 });
    await one.watchCache.waitUntil((await near.get('objects/things/a')).entry!.revision, 60_000);
    reads = [];
    await one.store.change(one.store.systemCall(), (tx) =>
      tx.update(Thing, 'a', ({ spec }) => {
        spec.size += 1;
      }),
    );
    expect([[...reads], await sizeOf('a')]).toEqual([[], 8]);
  });

  test('checks what is remembered, and runs again on the current object', async () => {
    deaf = true;
    await two.put('a', { size: 7 });
    const seen: number[] = [];
    await one.store.change(one.store.systemCall(), (tx) =>
      tx.update(Thing, 'a', ({ spec }) => {
        seen.push(spec.size);
        spec.size += 1;
      }),
    );
    expect([seen, await sizeOf('a')]).toEqual([[1, 7], 8]);
  });

  test('is asked before anything is refused, and before nothing is written', async () => {
    deaf = true;
    await two.put('a', { size: 7 });
    const grow = (): Promise<unknown> =>
      one.store.change(one.store.systemCall(), (tx) =>
        tx.update(Thing, 'a', ({ spec }) => {
          if (spec.size === 1) throw conflict(Thing, 'a', 'too small');
          spec.size += 1;
        }),
      );
    await grow();
    expect(await sizeOf('a')).toBe(8);
    await two.put('a', { size: 9 });
    await one.put('a', { size: 8 });
    expect(await sizeOf('a')).toBe(8);
    await two.remove('a');
    await expect(
      one.store.change(one.store.systemCall(), (tx) => tx.update(Thing, 'a', () => {})),
    ).rejects.toMatchObject({ reason: 'NotFound' });
  });

  test('a change whose outcome is not known is not made again', async () => {
    await one.put('b', { size: 1 });
    const { commit } = one.storage;
    let tries = 0;
    one.storage.commit = async () => {
      tries += 1;
      throw new Error('the line went dead');
    };
    await expect(one.put('b', { size: 2 })).rejects.toThrow('the line went dead');
    one.storage.commit = commit;
    expect([tries, await sizeOf('b')]).toEqual([1, 1]);
  });

  test('a request that began from a remembered object is decided again', async () => {
    deaf = true;
    await two.put('a', { size: 7 });
    const cached = { stored: one.store.lastKnown(Thing, 'a')!, fromCache: true };
    const sizes: unknown[] = [];
    const changeWith = async (
      target: { stored: EncodedObject; fromCache?: boolean },
      work: (tx: Transaction) => Promise<unknown>,
    ): Promise<void> => {
      const call = one.store.call({
        caller: { type: 'System' },
        request: { auditID: '', network: '', userAgent: '', acceptLanguage: '', browser: false },
        ports: {} as never,
        target: {
          ...target,
          authorize: (stored) => {
            sizes.push(stored!.object.spec.size);
            throw forbidden('no longer', Thing, 'a');
          },
        },
      });
      await call.change(work);
    };
    const refused = async (): Promise<void> => {
      throw conflict(Thing, 'a', 'no');
    };
    const empty = async (): Promise<void> => {};
    const grow = (tx: Transaction): Promise<unknown> =>
      tx.update(Thing, 'a', ({ spec }) => {
        spec.size = 2;
      });
    for (const work of [refused, empty, grow]) {
      await expect(changeWith(cached, work)).rejects.toMatchObject({ reason: 'Forbidden' });
    }
    expect(sizes).toEqual([7, 7, 7]);
    expect([cached.stored.object.spec.size, await sizeOf('a')]).toEqual([1, 7]);
    const now = { stored: (await one.store.stored(Thing, 'a'))! };
    await expect(changeWith(now, refused)).rejects.toMatchObject({ reason: 'Conflict' });
    await two.put('a', { size: 8 });
    await expect(changeWith(now, grow)).rejects.toMatchObject({ reason: 'Forbidden' });
    expect([sizes.at(-1), await sizeOf('a')]).toEqual([8, 8]);
  });

  test('a refusal of what a change makes is recorded once, of what is stored', async () => {
    deaf = true;
    await two.put('a', { size: 7 });
    const recorded: unknown[] = [];
    const changeFor = (least: number): Promise<unknown> => {
      const authorizer: Authorizer = {
        decide({ object }, of) {
          const { size } = object!.spec as { size: number };
          const allowed = size >= least;
          if (!allowed && of !== 'permission') recorded.push(size);
          return { allowed, reasons: [] };
        },
        decideQuietly: () => ({ allowed: true, reasons: [] }),
      };
      const requestInfo = { kind: Thing, verb: 'update', resource: 'things', name: 'a' };
      const caller = { type: 'System' } as const;
      const call = one.store.call({
        caller,
        request: { auditID: '', network: '', userAgent: '', acceptLanguage: '', browser: false },
        ports: {} as never,
        ...outcomeOf(authorizer, { requestInfo, caller, facts: {} } as never),
      });
      return call.change((tx) => tx.update(Thing, 'a', ({ spec }) => void (spec.colour = 'red')));
    };
    expect(one.store.lastKnown(Thing, 'a')!.object.spec.size).toBe(1);
    await changeFor(5);
    expect(recorded).toEqual([]);
    await expect(changeFor(8)).rejects.toMatchObject({ reason: 'Forbidden' });
    expect(recorded).toEqual([7]);
  });
});
