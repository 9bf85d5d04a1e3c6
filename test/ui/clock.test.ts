import { afterEach, expect, jest, test } from '@jest/globals';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { certainWaitMs, remainingMs, setClock } from '../../ui/base/api/clock.js';

afterEach(() => {
  jest.restoreAllMocks();
});

/** Seconds as a page shows them: rounded up. */
const shown = (milliseconds: number): number => Math.ceil(milliseconds / 1000);

test.each([0, 1, 250, 499, 500, 501, 999])(
  'of a wait of a minute that begins %i ms after a second, no more is shown',
  (past) => {
    const begun = Date.parse('2030-01-01T00:00:10Z') + past;
    for (const wrong of [0, -7_000_000, 7_000_123]) {
      // the clock of this machine
      jest.spyOn(Date, 'now').mockReturnValue(begun + wrong);
      setClock(new Date(begun).toUTCString());
      const ready = toTimestamp(Math.ceil((begun + 60_000) / 1000) * 1000);
      expect(shown(certainWaitMs(remainingMs(ready)))).toBeLessThanOrEqual(60);
      expect(shown(certainWaitMs(remainingMs(ready)))).toBeGreaterThan(58);
      jest.spyOn(Date, 'now').mockReturnValue(begun + wrong + 61_000);
      expect(certainWaitMs(remainingMs(ready))).toBe(0);
    }
  },
);
