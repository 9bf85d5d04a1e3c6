import { expect, test } from '@jest/globals';
import { seriesName, singleEventName } from '../../policy/decisions/names.js';

test('the later of two comes first, and every series before both', () => {
  const times = [
    0, 1, 26, 27, 728, 729, 1_795_000_000_000, 1_795_000_000_001, 1_795_000_086_400,
    2_500_000_000_000, 7_000_000_000_000,
  ];
  const names = times.map((time) => singleEventName('a', time));
  expect([...names].sort()).toEqual([...names].reverse());
  expect(names.every((name) => /^a-[2-9b-z]{21}$/.test(name))).toBe(true);
  for (const hash of ['2', 'z']) expect(seriesName('a', hash) < [...names].sort()[0]!).toBe(true);
  expect(singleEventName(undefined, 0)).toMatch(/^d-/);
});
