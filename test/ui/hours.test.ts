import { describe, expect, test } from '@jest/globals';
import type { HourlyCount } from '../../ui/api.js';
import {
  barsOf,
  changeOf,
  countsOf,
  hoursOf,
  reasonsOf,
  spanOf,
  spans,
  stepsOf,
} from '../../ui/console/base/hours.js';

const hourMs = 3_600_000;
const now = Date.UTC(2026, 10, 30, 19, 20);

/** An hour that began `before` hours before the present one. */
function hourOf(before: number, status: Partial<HourlyCount['status']>): HourlyCount {
  const startTimestamp = new Date((Math.floor(now / hourMs) - before) * hourMs).toISOString();
  const none = { signIns: [], signInsFailed: [], mails: [], refusedByRule: [], refusedByLimit: [] };
  return { status: { startTimestamp, ...none, ...status } } as unknown as HourlyCount;
}

const signIns = (before: number, count: number, name = 'Passkey'): HourlyCount =>
  hourOf(before, { signIns: [{ name, count, lastTimestamp: '2026-11-30T18:00:00Z' }] });

describe('a span', () => {
  test('is named by the address, and is a day if it names none', () => {
    const named = ['', 'span=7d', 'span=30d', 'span=year'].map((query) =>
      spanOf(new URLSearchParams(query)),
    );
    expect(named).toEqual(['24h', '7d', '30d', '24h']);
    expect(spans.map(hoursOf)).toEqual([49, 337, 721]);
  });

  test.each(spans)('of %s has bars up to now, which follow each other', (span) => {
    const bars = barsOf(span, now);
    expect(bars.at(-1)).toBeLessThanOrEqual(now);
    const [first = 0, second = 0] = bars;
    expect(bars.at(-1)! + (second - first)).toBeGreaterThan(now);
    expect(bars.toSorted((a, b) => a - b)).toEqual(bars);
  });

  test('of days begins them at midnight, also when clocks change', () => {
    const days = barsOf('30d', new Date(2026, 9, 30, 12).getTime());
    expect(days.map((start) => new Date(start).getHours())).toEqual(days.map(() => 0));
  });
});

describe('counts', () => {
  test('are those of the names, in the bar that their hour is in', () => {
    const hours = [signIns(0, 3), signIns(1, 2, 'EmailCode'), signIns(23, 1), signIns(24, 9)];
    const bars = barsOf('24h', now);
    const all = countsOf(hours, bars, { list: 'signIns' });
    expect([all[0], all.at(-2), all.at(-1)]).toEqual([1, 2, 3]);
    const passkeys = countsOf(hours, bars, { list: 'signIns', names: ['Passkey'] });
    expect(passkeys.at(-2)).toBe(0);
    expect(countsOf(hours, barsOf('30d', now), { list: 'signIns' }).reduce((a, b) => a + b)).toBe(
      15,
    );
  });

  test('are compared with the same time before, where that is kept', () => {
    const hours = [signIns(2, 30), signIns(26, 20), signIns(60, 50)];
    expect(changeOf(hours, '24h', { list: 'signIns' }, now)).toBeCloseTo(0.5);
    expect(changeOf([signIns(1, 3)], '24h', { list: 'signIns' }, now)).toBeUndefined();
    expect(changeOf(hours, '30d', { list: 'signIns' }, now)).toBeUndefined();
  });

  test('of refusals are added up by reason, most first, with the last time', () => {
    const refused = (count: number, lastTimestamp: string) => [
      { name: 'staff', count, lastTimestamp },
    ];
    const hours = [
      hourOf(1, { refusedByRule: refused(2, '2026-11-30T18:01:00Z') }),
      hourOf(3, { refusedByRule: refused(3, '2026-11-30T16:01:00Z') }),
      hourOf(3, { refusedByLimit: refused(4, '2026-11-30T16:02:00Z') }),
      hourOf(30, { refusedByRule: refused(90, '2026-11-29T13:01:00Z') }),
    ];
    expect(reasonsOf(hours, barsOf('24h', now))).toEqual([
      { by: 'rule', name: 'staff', count: 5, last: '2026-11-30T18:01:00Z' },
      { by: 'limit', name: 'staff', count: 4, last: '2026-11-30T16:02:00Z' },
    ]);
  });
});

test.each([
  [1, [0, 1, 2, 3]],
  [4, [0, 1, 2, 3, 4]],
  [7, [0, 2, 4, 6, 8]],
  [26, [0, 10, 20, 30]],
  [166, [0, 50, 100, 150, 200]],
  [4_100, [0, 1_000, 2_000, 3_000, 4_000, 5_000]],
])('an axis for counts up to %s has round marks', (most, steps) => {
  expect(stepsOf(most)).toEqual(steps);
});
