import { expect } from '@jest/globals';
import { compactOnce } from '../../../storage/compactor.js';
import { CompactedError, UnavailableError } from '../../../storage/storage.js';
import { everything, put, remove, summaryOf, Watched } from '../drive.js';
import { withStore } from '../fixture.js';
import type { OpenStore } from '../store.js';

/** What a compaction removes, what it keeps, and which watches it ends. */
export function compactionCases(open: OpenStore): void {
  withStore(
    open,
    'before the compaction nothing can be read or watched, from it on everything',
    async (storage) => {
      const first = await put(storage, { a: '1', gone: '1' });
      const second = await put(storage, { a: '2' });
      await remove(storage, 'gone');
      const last = await put(storage, { a: '3' });
      await storage.compact(second);
      await storage.compact(first);
      await expect(storage.list(everything, { at: first })).rejects.toMatchObject({
        name: 'CompactedError',
        oldest: second,
      });
      await expect(new Watched(storage, '', first).ended).rejects.toBeInstanceOf(CompactedError);
      const page = await storage.list(everything, { at: second });
      expect(page.entries.map(({ key, value }) => key + value.toString())).toEqual(['a2', 'gone1']);
      const watched = await new Watched(storage, '', second).reached(last);
      expect(watched.changes.map(summaryOf)).toEqual(['gone=-<1', 'a=3<2']);
      await watched.stop();
    },
  );

  withStore(
    open,
    'a watcher that a compaction makes miss a deletion gets an error',
    async (storage) => {
      const before = await put(storage, { a: '1', gone: '1' });
      const deleted = await remove(storage, 'gone');
      const last = await put(storage, { a: '2' });
      await storage.compact(deleted);
      const late = new Watched(storage, '', before);
      await expect(
        Promise.race([
          late.ended,
          late.reached(last).then(({ changes }) => changes.map(summaryOf)),
        ]),
      ).rejects.toBeInstanceOf(CompactedError);
      const inTime = await new Watched(storage, '', deleted).reached(last);
      expect(inTime.changes.map(summaryOf)).toEqual(['a=2<1']);
      await inTime.stop();
    },
  );

  withStore(open, 'compaction is remembered across a restart', async (storage, store) => {
    const first = await put(storage, { a: '1' });
    const second = await put(storage, { a: '2' });
    const last = await put(storage, { a: '3' });
    await storage.compact(second);
    await store.disturb();
    await expect(store.storage.list(everything, { at: first })).rejects.toBeInstanceOf(
      CompactedError,
    );
    await expect(new Watched(store.storage, '', first).ended).rejects.toBeInstanceOf(
      CompactedError,
    );
    const watched = await new Watched(store.storage, '', second).reached(last);
    expect(watched.changes.map(summaryOf)).toEqual(['a=3<2']);
    await watched.stop();
    expect((await store.storage.get('a')).entry?.revision).toBe(last);
    expect(await put(store.storage, { a: '4' })).toBeGreaterThan(last);
  });

  withStore(
    open,
    'compacting everything keeps what stands, and the sequence goes on after a restart',
    async (storage, store) => {
      await put(storage, { a: '1' });
      const last = await put(storage, { a: '2' });
      await storage.compact(last + 1000);
      await store.disturb();
      const { entry, revision } = await store.storage.get('a');
      expect(entry?.value.toString()).toBe('2');
      expect(revision).toBeGreaterThanOrEqual(last);
      expect(await put(store.storage, { b: '1' })).toBeGreaterThan(last);
    },
  );

  withStore(
    open,
    'a watch that keeps up is not disturbed by compaction under it',
    async (storage) => {
      const from = (await storage.get('a')).revision;
      const watched = new Watched(storage, 'c/', from);
      for (let i = 1; i <= 20; i++) {
        const revision = await put(storage, { 'c/a': String(i) });
        await watched.until(() => watched.changes.length === i);
        await storage.compact(revision);
      }
      expect(watched.changes.map(summaryOf).slice(-2)).toEqual(['c/a=19<18', 'c/a=20<19']);
      await watched.stop();
    },
  );

  withStore(
    open,
    'the compactor keeps an interval of history and one replica does it',
    async (storage) => {
      const first = await put(storage, { a: '1' });
      await compactOnce(storage, 1000, 10_000);
      const second = await put(storage, { a: '2' });
      await compactOnce(storage, 1000, 10_999);
      expect((await storage.list(everything, { at: first })).entries).toHaveLength(1);
      await Promise.all([compactOnce(storage, 1000, 11_000), compactOnce(storage, 1000, 11_000)]);
      expect((await storage.list(everything, { at: first })).entries[0]?.value.toString()).toBe(
        '1',
      );
      expect((await storage.list(everything, { at: second })).entries[0]?.value.toString()).toBe(
        '2',
      );
      await compactOnce(storage, 1000, 12_000);
      await expect(storage.list(everything, { at: first })).rejects.toBeInstanceOf(CompactedError);
      expect((await storage.list(everything)).entries.map(({ key }) => key)).toEqual([
        'a',
        'meta/compaction',
      ]);
    },
  );

  withStore(
    open,
    'the compactor makes space in a store that has none for its record',
    async (storage) => {
      const first = await put(storage, { a: '1' });
      await put(storage, { a: '2' });
      await compactOnce(storage, 1000, 10_000);
      const full = Object.create(storage, {
        commit: { value: () => Promise.reject(new UnavailableError('full', { full: true })) },
        get: { value: storage.get.bind(storage) },
        compact: { value: storage.compact.bind(storage) },
      }) as typeof storage;
      await compactOnce(full, 1000, 11_000);
      await expect(storage.list(everything, { at: first })).rejects.toBeInstanceOf(CompactedError);
    },
  );
}
