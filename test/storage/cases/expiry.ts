import { expect } from '@jest/globals';
import { bytes, everything, made, summaryOf, Watched } from '../drive.js';
import { withStore } from '../fixture.js';
import type { OpenStore } from '../store.js';

/** Expiry is a stored time; collecting comes later and is an ordinary deletion. */
export function expiryCases(open: OpenStore): void {
  withStore(
    open,
    'an expired entry is still read, listed and watched, with its time',
    async (storage) => {
      const { revision } = await storage.get('a');
      const expires = Date.now() - 5000;
      made(
        await storage.commit(
          [],
          [
            { put: 'a', value: bytes('1'), expires },
            { put: 'b', value: bytes('2'), expires: Date.now() + 30 * 86_400_000 },
          ],
        ),
      );
      expect((await storage.get('a')).entry).toMatchObject({ expires });
      expect((await storage.list(everything)).entries[0]).toMatchObject({ key: 'a', expires });
      const watched = new Watched(storage, '', revision);
      await watched.until(() => watched.changes.length === 2);
      expect(watched.changes[0]!.entry).toMatchObject({ expires });
      await watched.stop();
    },
  );

  withStore(
    open,
    'a sweep is a deletion that watchers see, and spares what was prolonged or never expires',
    async (storage) => {
      const { revision } = await storage.get('a');
      const watched = new Watched(storage, '', revision);
      const soon = Date.now() + 500;
      made(
        await storage.commit(
          [],
          [
            ...Array.from({ length: 90 }, (_, i) => ({
              put: `soon/${i}`,
              value: bytes('1'),
              expires: soon,
            })),
            { put: 'prolonged', value: bytes('1'), expires: soon },
            { put: 'forever', value: bytes('1'), expires: soon },
          ],
        ),
      );
      made(
        await storage.commit(
          [],
          [
            { put: 'prolonged', value: bytes('2'), expires: Date.now() + 3_600_000 },
            { put: 'forever', value: bytes('2') },
          ],
        ),
      );
      await watched.until(() => watched.changes.filter(({ entry }) => !entry).length === 90);
      expect(
        watched.changes
          .filter(({ entry }) => !entry)
          .map(summaryOf)
          .sort()[0],
      ).toBe('soon/0=-<1');
      expect((await storage.list(everything)).entries.map(({ key }) => key)).toEqual([
        'forever',
        'prolonged',
      ]);
      await watched.stop();
    },
    { sweeping: true },
  );
}
