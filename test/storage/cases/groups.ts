import { expect } from '@jest/globals';
import { type Check, TooLargeError, type Write } from '../../../storage/storage.js';
import { bytes, everything, made, put, text, Watched } from '../drive.js';
import { withStore } from '../fixture.js';
import type { OpenStore } from '../store.js';

/** Commits that arrive together and travel as one. */
export function groupCases(open: OpenStore): void {
  withStore(open, 'among many at once the bad ones fail alone', async (storage) => {
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, (_, i) => {
        if (i === 50) return storage.commit([], [{ put: 'big', value: Buffer.alloc(2 << 20) }]);
        if (i === 100) {
          return storage.commit(
            [],
            [
              { put: 'twice', value: bytes('1') },
              { put: 'twice', value: bytes('2') },
            ],
          );
        }
        if (i === 150) {
          return storage.commit(
            [{ key: 'n', is: 'present' }],
            [{ put: 'lost', value: bytes('x') }],
          );
        }
        return storage.commit([], [{ put: `k${i}`, value: bytes(String(i)) }]);
      }),
    );
    expect(results.flatMap(({ status }, i) => (status === 'rejected' ? [i] : []))).toEqual([
      50, 100,
    ]);
    expect(results[50]).toMatchObject({ reason: expect.any(TooLargeError) });
    expect(results[150]).toMatchObject({ value: { committed: false } });
    expect((await storage.list(everything)).entries).toHaveLength(197);
  });

  withStore(open, 'large and small members mixed all arrive', async (storage) => {
    const sizes = [1, 100, 2, 64, 65, 30, 1, 99, 1, 63, 5, 1];
    await Promise.all(
      sizes.map((size, member) =>
        storage.commit(checksOf(member, size), writesOf(member, size)).then(made),
      ),
    );
    expect((await storage.list(everything)).entries).toHaveLength(
      sizes.reduce((sum, size) => sum + size, 0),
    );
    const heavy = Array.from({ length: 12 }, (_, i) =>
      storage.commit([], [{ put: `heavy${i}`, value: Buffer.alloc(300_000, i) }]),
    );
    for (const result of await Promise.all(heavy)) made(result);
    expect((await storage.get('heavy11')).entry?.value.equals(Buffer.alloc(300_000, 11))).toBe(
      true,
    );
  });

  withStore(
    open,
    'revisions of commits made one after another rise, and no revision of a key is returned twice',
    async (storage) => {
      const revisions: number[] = [];
      for (let i = 0; i < 20; i++) revisions.push(await put(storage, { a: String(i) }));
      expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
    },
  );

  withStore(
    open,
    'a watcher sees every member of a group once, with its own revision',
    async (storage) => {
      const { revision } = await storage.get('a');
      const watched = new Watched(storage, 'g/', revision);
      const results = await Promise.all(
        Array.from({ length: 300 }, (_, i) =>
          storage.commit(
            [{ key: `g/${i}`, is: 'absent' }],
            [{ put: `g/${i}`, value: bytes(String(i)) }],
          ),
        ),
      );
      await watched.reached(Math.max(...results.map(made)));
      expect(new Map(watched.changes.map(({ key, entry }) => [key, entry?.revision]))).toEqual(
        new Map(results.map((result, i) => [`g/${i}`, result.revision])),
      );
      expect(watched.changes).toHaveLength(300);
      await watched.stop();
    },
  );

  withStore(
    open,
    'writers of one key in one group keep their order of winning',
    async (storage) => {
      const results = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          storage.commit([], [{ put: 'same', value: bytes(String(i)) }]),
        ),
      );
      const last = results
        .map(made)
        .reduce((best, revision, i, all) => (revision > all[best]! ? i : best), 0);
      expect(new Set(results.map(made)).size).toBe(40);
      expect(await text(storage, 'same')).toBe(String(last));
    },
  );

  withStore(
    open,
    'of two in one group that each depend on what the other writes, one is made',
    async (storage) => {
      for (let round = 0; round < 10; round++) {
        const revision = await put(storage, { left: `${round}`, right: `${round}` });
        const results = await Promise.all(
          [
            ['left', 'right'],
            ['right', 'left'],
          ].map(([depended, written]) =>
            storage.commit(
              [{ key: depended!, is: revision }],
              [{ put: written!, value: bytes('taken') }],
            ),
          ),
        );
        expect(results.filter(({ committed }) => committed)).toHaveLength(1);
      }
    },
  );

  withStore(open, 'of many in one group that want the same thing, one gets it', async (storage) => {
    for (let round = 0; round < 5; round++) {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          storage.commit(
            [{ key: `wanted/${round}`, is: 'absent' }],
            [{ put: `wanted/${round}`, value: bytes(String(i)) }],
          ),
        ),
      );
      expect(results.map(({ committed }, i) => (committed ? String(i) : '')).join('')).toBe(
        await text(storage, `wanted/${round}`),
      );
    }
  });
}

const writesOf = (member: number, size: number): Write[] =>
  Array.from({ length: size }, (_, i) => ({ put: `m${member}/${i}`, value: bytes('x') }));
const checksOf = (member: number, size: number): Check[] =>
  Array.from({ length: size }, (_, i) => ({ key: `m${member}/${i}`, is: 'absent' }));
