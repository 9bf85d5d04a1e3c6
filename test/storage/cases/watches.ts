import { expect } from '@jest/globals';
import {
  type Revision,
  type Storage,
  UnavailableError,
  UnknownOutcomeError,
} from '../../../storage/storage.js';
import { expectFor } from '../../support/expect-for.js';
import { bytes, put, remove, summaryOf, Watched } from '../drive.js';
import { withStore } from '../fixture.js';
import type { OpenStore } from '../store.js';

/** What a watcher receives, and what happens to it when the store goes away. */
export function watchCases(open: OpenStore): void {
  withStore(
    open,
    'a watch receives every change after its start, with the values before it',
    async (storage) => {
      const from = await put(storage, { 'w/a': '1' });
      const watched = new Watched(storage, 'w/', from);
      await put(storage, { 'w/a': '2', 'w/b': '1', 'x/c': '1' });
      await remove(storage, 'w/a', 'w/none');
      const last = await put(storage, { 'w/a': '3' });
      await watched.reached(last);
      expect(watched.changes.map(summaryOf)).toEqual(['w/a=2<1', 'w/b=1<-', 'w/a=-<2', 'w/a=3<-']);
      await watched.stop();
    },
  );

  withStore(
    open,
    'a watch from an old revision replays, with values before',
    async (storage, store) => {
      const { revision: from } = await storage.get('w/a');
      await put(storage, { 'w/a': '1' });
      await put(storage, { 'w/a': '2', 'w/b': '2' });
      await remove(storage, 'w/b');
      const last = await put(storage, { 'w/b': '4' });
      const expected = ['w/a=1<-', 'w/a=2<1', 'w/b=2<-', 'w/b=-<2', 'w/b=4<-'];
      const watched = await new Watched(storage, 'w/', from).reached(last);
      expect(watched.changes.map(summaryOf)).toEqual(expected);
      await watched.stop();
      await store.disturb();
      const again = await new Watched(store.storage, 'w/', from).reached(last);
      expect(again.changes.map(summaryOf)).toEqual(expected);
      expect(again.batches.filter(({ changes }) => changes.length > 0)).toHaveLength(4);
      await again.stop();
    },
  );

  withStore(
    open,
    'a watch for new values receives them and deletions, from an old revision too',
    async (storage, store) => {
      const { revision: from } = await storage.get('w/a');
      const live = new Watched(storage, 'w/', from, { newValuesOnly: true });
      await put(storage, { 'w/a': '1', 'x/a': '1' });
      await put(storage, { 'w/a': '2', 'w/b': '2' });
      await remove(storage, 'w/b');
      await store.disturb();
      const last = await put(store.storage, { 'w/b': '4' });
      const late = new Watched(store.storage, 'w/', from, { newValuesOnly: true });
      for (const watched of store.storage === storage ? [live, late] : [late]) {
        await watched.reached(last);
        expect(watched.changes.map((change) => summaryOf(change).split('<')[0])).toEqual([
          'w/a=1',
          'w/a=2',
          'w/b=2',
          'w/b=-',
          'w/b=4',
        ]);
        await watched.stop();
      }
    },
  );

  for (const newValuesOnly of [false, true]) {
    withStore(
      open,
      `a watch marks that it has caught up, and how far others have come${newValuesOnly ? ', for new values too' : ''}`,
      async (storage) => {
        const from = await put(storage, { 'w/a': '1' });
        const watched = await new Watched(storage, 'w/', from, { newValuesOnly }).reached(from);
        expect(watched.changes).toEqual([]);
        const other = await put(storage, { other: '1' });
        await watched.reached(other);
        expect(watched.changes).toEqual([]);
        const marks = watched.batches.length;
        await watched.until(() => watched.batches.length >= marks + 2);
        await watched.stop();
      },
    );
  }

  withStore(open, 'a mark never comes before a change it covers', async (storage) => {
    const from = await put(storage, { 'w/a': '1' });
    const acknowledged = new Map<string, Revision>();
    const watches = Array.from({ length: 5 }, () => new Watched(storage, 'w/', from));
    for (let round = 0; round < 30; round++) {
      await Promise.all(
        ['w/', 'x/', 'w/', 'y/'].map(async (place, i) => {
          const key = `${place}${i}-${round}`;
          const revision = await put(storage, { [key]: '1' });
          if (place === 'w/') acknowledged.set(key, revision);
        }),
      );
      watches.push(new Watched(storage, 'w/', from));
    }
    const last = await put(storage, { 'x/last': '1' });
    for (const watched of watches) {
      await watched.reached(last);
      const batchOf = new Map(
        watched.batches.flatMap(({ changes }, place) => changes.map(({ key }) => [key, place])),
      );
      for (const [key, revision] of acknowledged) {
        expect(batchOf.get(key)).toBeLessThanOrEqual(
          watched.batches.findIndex((batch) => batch.revision >= revision),
        );
      }
      await watched.stop();
    }
  });

  withStore(open, 'a prefix does not reach its neighbours', async (storage) => {
    const from = (await storage.get('w/a')).revision;
    const watched = new Watched(storage, 'w/a/', from);
    await put(storage, { 'w/a': '1', 'w/a-': '1', 'w/a0': '1', 'w/b/1': '1', 'w/a/1': '1' });
    const last = await put(storage, { 'w/a/2': '1' });
    await watched.reached(last);
    expect(watched.changes.map(({ key }) => key)).toEqual(['w/a/1', 'w/a/2']);
    await watched.stop();
  });

  withStore(
    open,
    'an empty prefix watches everything, a watch ahead of time waits',
    async (storage) => {
      const from = await put(storage, { a: '1' });
      const ahead = new Watched(storage, '', from + 1);
      await put(storage, { a: '2' });
      const last = await put(storage, { b: '3' });
      await ahead.reached(last);
      expect(ahead.changes.map(summaryOf).at(-1)).toBe('b=3<-');
      await ahead.stop();
    },
  );

  withStore(
    open,
    'an aborted watch ends without error, before and after it began',
    async (storage) => {
      const from = await put(storage, { a: '1' });
      const watched = await new Watched(storage, '', from).reached(from);
      await watched.stop();
      const never: unknown[] = [];
      for await (const batch of storage.watch('', from, AbortSignal.abort())) never.push(batch);
      expect(never).toEqual([]);
    },
  );

  withStore(open, 'closing the store ends its watches', async (storage) => {
    const from = await put(storage, { a: '1' });
    const watched = await new Watched(storage, '', from).reached(from);
    await storage.close();
    await watched.ended;
  });

  withStore(
    open,
    'nothing is missed, doubled or reordered when the store goes away and comes back',
    async (storage, store) => {
      const from = (await storage.get('w/a')).revision;
      let watched = new Watched(storage, 'w/', from);
      const seen: Watched[] = [watched];
      const acknowledged = new Map<string, Revision>();
      for (let round = 0; round < 3; round++) {
        const writers = Array.from({ length: 20 }, (_, i) =>
          write(store.storage, `w/${round}/${i}`, acknowledged),
        );
        await store.disturb();
        await Promise.all(writers);
        if (store.storage !== storage) {
          await watched.ended;
          seen.push(
            (watched = new Watched(store.storage, 'w/', watched.batches.at(-1)?.revision ?? from)),
          );
        }
      }
      const last = await settledPut(store.storage, 'w/last', 'x');
      await watched.reached(last);
      checkHistory(seen, acknowledged);
      await watched.stop();
    },
  );
}

async function write(
  storage: Storage,
  key: string,
  acknowledged: Map<string, Revision>,
): Promise<void> {
  for (let i = 0; i < 5; i++) {
    try {
      const result = await storage.commit([], [{ put: `${key}/${i}`, value: bytes(String(i)) }]);
      acknowledged.set(`${key}/${i}`, result.revision);
    } catch (error) {
      if (!(error instanceof UnavailableError || error instanceof UnknownOutcomeError)) throw error;
    }
  }
}

async function settledPut(storage: Storage, key: string, value: string): Promise<Revision> {
  for (;;) {
    try {
      return await put(storage, { [key]: value });
    } catch (error) {
      if (!(error instanceof UnavailableError || error instanceof UnknownOutcomeError)) throw error;
    }
  }
}

function checkHistory(seen: readonly Watched[], acknowledged: ReadonlyMap<string, Revision>): void {
  const batches = seen
    .flatMap((watched) => watched.batches)
    .filter(({ changes }) => changes.length > 0);
  const revisions = batches.map(({ revision }) => revision);
  expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
  const changes = batches.flatMap((batch) =>
    batch.changes.map(({ key }) => [key, batch.revision] as const),
  );
  expect(changes).toHaveLength(new Set(changes.map(([key]) => key)).size);
  const received = new Map(changes);
  for (const [key, revision] of acknowledged) expectFor(key, received.get(key)).toEqual(revision);
}
