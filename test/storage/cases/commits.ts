import { expect } from '@jest/globals';
import type { Committed, Lost, Storage } from '../../../storage/storage.js';
import { bytes, increment, made, put, remove, text } from '../drive.js';
import { withStore } from '../fixture.js';
import type { OpenStore } from '../store.js';

/** Single commits and races between them. */
export function commitCases(open: OpenStore): void {
  withStore(open, 'get answers nothing, then what was put, then nothing again', async (storage) => {
    const before = await storage.get('a');
    expect(before.entry).toBeUndefined();
    expect(before.revision).toBeGreaterThan(0);
    const revision = await put(storage, { a: '1' });
    expect(revision).toBeGreaterThan(before.revision);
    expect(await storage.get('a')).toEqual({
      entry: { key: 'a', value: bytes('1'), revision },
      revision: expect.any(Number),
    });
    expect((await storage.get('a')).revision).toBeGreaterThanOrEqual(revision);
    expect(await remove(storage, 'a')).toBeGreaterThan(revision);
    expect((await storage.get('a')).entry).toBeUndefined();
  });

  withStore(open, 'a commit is one revision for all its keys', async (storage) => {
    const revision = await put(storage, { a: '1', b: '2', c: '3' });
    for (const key of ['a', 'b', 'c']) {
      expect((await storage.get(key)).entry?.revision).toBe(revision);
    }
  });

  withStore(open, 'checks of revision, absent and present hold or lose', async (storage) => {
    const revision = await put(storage, { a: '1' });
    const write = [{ put: 'b', value: bytes('x') }];
    for (const checks of [
      [{ key: 'a', is: revision + 1 }],
      [{ key: 'a', is: 'absent' }],
      [{ key: 'n', is: 'present' }],
      [{ key: 'n', is: revision }],
    ] as const) {
      expect((await storage.commit(checks, write)).committed).toBe(false);
    }
    expect(await text(storage, 'b')).toBeUndefined();
    made(
      await storage.commit(
        [
          { key: 'a', is: revision },
          { key: 'a', is: 'present' },
          { key: 'n', is: 'absent' },
        ],
        write,
      ),
    );
    expect(await text(storage, 'b')).toBe('x');
  });

  withStore(
    open,
    'a lost commit brings what stands under the keys that failed, and only those',
    async (storage) => {
      const revision = await put(storage, { a: '1', b: '2' });
      const lost = (await storage.commit(
        [
          { key: 'a', is: 'absent' },
          { key: 'b', is: revision },
          { key: 'c', is: 'present' },
        ],
        [],
      )) as Lost;
      expect(lost.committed).toBe(false);
      expect([...lost.winners]).toEqual([
        ['a', { key: 'a', value: bytes('1'), revision }],
        ['c', undefined],
      ]);
      expect(lost.revision).toBeGreaterThanOrEqual(revision);
    },
  );

  withStore(
    open,
    'deleting an absent key and committing nothing are no change',
    async (storage) => {
      const revision = await put(storage, { a: '1' });
      expect(await remove(storage, 'n')).toBeGreaterThanOrEqual(revision);
      made(await storage.commit([{ key: 'a', is: revision }], []));
      expect((await storage.get('a')).entry?.revision).toBe(revision);
    },
  );

  withStore(open, 'revision zero never holds, not even for an absent key', async (storage) => {
    expect(
      (await storage.commit([{ key: 'n', is: 0 }], [{ put: 'n', value: bytes('x') }])).committed,
    ).toBe(false);
  });

  withStore(
    open,
    'a key written twice in one commit is refused and nothing is written',
    async (storage) => {
      await expect(
        storage.commit([], [{ put: 'a', value: bytes('1') }, { delete: 'a' }]),
      ).rejects.toThrow(TypeError);
      expect(await text(storage, 'a')).toBeUndefined();
    },
  );

  withStore(open, 'a hundred racing increments lose nothing', async (storage) => {
    await Promise.all(Array.from({ length: 100 }, () => increment(storage, 'counter')));
    expect(await text(storage, 'counter')).toBe('100');
  });

  withStore(
    open,
    'of A checks x writes y and B checks y writes x exactly one wins',
    async (storage) => {
      for (let round = 0; round < 50; round++) {
        const [x, y] = [`x${round}`, `y${round}`];
        const results = await Promise.all([cross(storage, x, y), cross(storage, y, x)]);
        expect(results.filter(({ committed }) => committed)).toHaveLength(1);
      }
    },
  );

  withStore(
    open,
    'many crossing pairs and rings at once: no two neighbours both win',
    async (storage) => {
      const ring = Array.from({ length: 60 }, (_, i) => `ring${i}`);
      const results = await Promise.all(
        ring.map((key, i) => cross(storage, key, ring[(i + 1) % ring.length]!)),
      );
      results.forEach(({ committed }, i) => {
        expect(committed && results[(i + 1) % ring.length]!.committed).toBe(laterThan(results, i));
      });
    },
  );

  withStore(open, 'many creations of one key: exactly one wins', async (storage) => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        storage.commit([{ key: 'one', is: 'absent' }], [{ put: 'one', value: bytes(String(i)) }]),
      ),
    );
    expect(results.filter(({ committed }) => committed)).toHaveLength(1);
    expect(await text(storage, 'one')).toBe(
      String(results.findIndex(({ committed }) => committed)),
    );
  });

  withStore(open, 'what was written is read at once, by get and list', async (storage) => {
    await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const revision = await put(storage, { [`own/${i}`]: String(i) });
        const { entry } = await storage.get(`own/${i}`);
        expect(entry?.revision).toBe(revision);
        const page = await storage.list({ start: `own/${i}`, end: `own/${i}!` });
        expect(page.entries[0]?.value.toString()).toBe(String(i));
        expect(page.revision).toBeGreaterThanOrEqual(revision);
      }),
    );
  });
}

const cross = (storage: Storage, checked: string, written: string): Promise<Committed | Lost> =>
  storage.commit([{ key: checked, is: 'absent' }], [{ put: written, value: bytes('x') }]);

/**
 * Member i checks key i and writes key i+1, member i+1 checks key i+1: both win only when i+1 came
 * strictly first.
 */
function laterThan(results: readonly (Committed | Lost)[], i: number): boolean {
  const [first, second] = [results[i]!, results[(i + 1) % results.length]!];
  return first.committed && second.committed && second.revision < first.revision;
}
