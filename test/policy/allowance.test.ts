import { expect, test } from '@jest/globals';
import { defaultLimits } from '../../kinds/limits/limit-settings.js';
import { EventRateLimiter } from '../../policy/decisions/rate-limit.js';

const hour = 3_600_000;
const taken = (
  allowance: EventRateLimiter,
  what: 'refusals' | 'changes',
  owner: string,
  now: number,
): number =>
  Array.from({ length: 500 }, () => allowance.take(what, owner, now)).filter(Boolean).length;

test('each owner has so many refusals and so many changes an hour', () => {
  const allowance = new EventRateLimiter(defaultLimits);
  expect([
    taken(allowance, 'refusals', 'ada', hour),
    taken(allowance, 'changes', 'ada', hour),
  ]).toEqual([60, 120]);
  expect([
    taken(allowance, 'changes', 'ada', 2 * hour - 1),
    taken(allowance, 'changes', 'bob', 2 * hour - 1),
  ]).toEqual([0, 120]);
  expect(taken(allowance, 'changes', 'ada', 2 * hour)).toBe(120);
});

test('what is remembered of owners is bounded', () => {
  const allowance = new EventRateLimiter(defaultLimits);
  expect(taken(allowance, 'changes', 'first', hour)).toBe(120);
  for (let i = 0; i < 50_000; i += 1) allowance.take('changes', `other-${i}`, hour);
  expect(taken(allowance, 'changes', 'first', hour)).toBe(120);
});

test('the rates are as they were set, and refusals of all owners have one in a minute', () => {
  const allowance = new EventRateLimiter({
    ...defaultLimits,
    recordedChanges: 11,
    recordedRefusals: 7,
    recordedRefusalsInAll: 60,
  });
  expect([
    taken(allowance, 'changes', 'ada', hour),
    taken(allowance, 'refusals', 'ada', hour),
  ]).toEqual([11, 7]);
  const refusedAt = (now: number): number =>
    Array.from({ length: 100 }, (_, i) => allowance.takeRefusal(`p${i}`, now)).filter(Boolean)
      .length;
  expect([refusedAt(hour), refusedAt(hour + 59_999), refusedAt(hour + 60_000)]).toEqual([
    60, 0, 60,
  ]);
});
