import { expect } from '@jest/globals';
import { prefixRange, type Storage } from '../../../storage/storage.js';
import { bytes, made, put, remove, text } from '../drive.js';
import { withStore } from '../fixture.js';
import type { OpenStore } from '../store.js';

const { start: key, end } = prefixRange('a/');

/** Whether a commit that checks the range is made. */
async function holds(storage: Storage, is: number): Promise<boolean> {
  const outcome = await storage.commit([{ key, end, is }], [{ put: 'z', value: bytes('z') }]);
  return outcome.committed;
}

/** Checks of ranges. */
export function rangeCases(open: OpenStore): void {
  withStore(open, 'an empty range and one that nothing was written to hold', async (storage) => {
    const { revision } = await storage.list({ start: key, end });
    expect(await holds(storage, revision)).toBe(true);
    await put(storage, { 'a/1': '1' });
    const page = await storage.list({ start: key, end });
    expect(await holds(storage, page.revision)).toBe(true);
    expect(await holds(storage, page.revision)).toBe(true);
  });

  withStore(open, 'a new and a changed key of a range lose the commit', async (storage) => {
    await put(storage, { 'a/1': '1' });
    for (const name of ['a/0', 'a/2', 'a/1']) {
      const { revision } = await storage.list({ start: key, end });
      await put(storage, { [name]: 'new' });
      const outcome = await storage.commit(
        [{ key, end, is: revision }],
        [{ put: 'y', value: bytes('y') }],
      );
      expect(outcome).toMatchObject({ committed: false, winners: new Map() });
      expect(await text(storage, 'y')).toBeUndefined();
    }
  });

  withStore(
    open,
    'keys beside a range do not count, and neither do deleted ones',
    async (storage) => {
      await put(storage, { 'a/1': '1', 'a/2': '2' });
      const { revision } = await storage.list({ start: key, end });
      await put(storage, { a: '1', 'a.': '1', a0: '1', b: '1' });
      await remove(storage, 'a/1');
      expect(await holds(storage, revision)).toBe(true);
      await put(storage, { 'a/3': '3' });
      await remove(storage, 'a/3');
      expect(await holds(storage, revision)).toBe(true);
      await put(storage, { 'a/1': 'back' });
      expect(await holds(storage, revision)).toBe(false);
    },
  );

  withStore(open, 'a range is checked beside keys, and failed keys are named', async (storage) => {
    const revision = await put(storage, { 'a/1': '1', b: '2' });
    const failed = await storage.commit(
      [
        { key, end, is: revision },
        { key: 'c', is: 'present' },
        { key: 'b', is: 'absent' },
      ],
      [],
    );
    expect(failed.committed ? [] : [...failed.winners.keys()].sort()).toEqual(['b', 'c']);
    made(
      await storage.commit(
        [
          { key: 'b', is: revision },
          { key, end, is: revision },
          { key: 'a/1', is: revision },
        ],
        [{ put: 'a/2', value: bytes('own') }],
      ),
    );
    expect(await text(storage, 'a/2')).toBe('own');
  });

  withStore(
    open,
    'of two that add what the other must not see exactly one wins',
    async (storage) => {
      for (let round = 0; round < 30; round += 1) {
        const [left, right] = [`l${round}/`, `r${round}/`].map(prefixRange);
        const { revision } = await storage.get('a');
        const add = (own: string, seen: { start: string; end: string }) =>
          storage.commit(
            [{ key: seen.start, end: seen.end, is: revision }],
            [{ put: `${own}1`, value: bytes('x') }],
          );
        const outcomes = await Promise.all([add(left!.start, right!), add(right!.start, left!)]);
        expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1);
      }
    },
  );

  withStore(open, 'many commits at once see what others add to their range', async (storage) => {
    const { revision } = await storage.get('a');
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        storage.commit([{ key, end, is: revision }], [{ put: `a/${i}`, value: bytes('x') }]),
      ),
    );
    expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1);
    const { entries } = await storage.list({ start: key, end });
    expect(entries).toHaveLength(1);
  });
}
