import { afterEach, expect, test } from '@jest/globals';
import { CachedProbe } from '../../apiserver/cached-probe.js';

const now = performance.now;
afterEach(() => {
  performance.now = now;
});

test('a caller waits for the first answer only; later ones refresh beside', async () => {
  let time = 1_000;
  performance.now = () => time;
  let asked = 0;
  const probe = new CachedProbe(async () => (asked += 1));
  expect(await Promise.all([probe.value(), probe.value()])).toEqual([1, 1]);
  time += 59_999;
  expect([await probe.value(), asked]).toEqual([1, 1]);
  time += 1;
  expect(await probe.value()).toBe(1);
  await probe.settled();
  expect([await probe.value(), asked]).toEqual([2, 2]);
});

test('when a refresh fails, the last answer stands; a failing first probe throws', async () => {
  let time = 1_000;
  performance.now = () => time;
  let fails = true;
  let asked = 0;
  const probe = new CachedProbe(async () => {
    asked += 1;
    if (fails) throw new Error('no');
    return asked;
  });
  await expect(probe.value()).rejects.toThrow('no');
  fails = false;
  expect(await probe.value()).toBe(2);
  fails = true;
  time += 60_000;
  for (let i = 0; i < 2; i += 1) {
    expect(await probe.value()).toBe(2);
    await probe.settled();
  }
  expect(asked).toBe(4);
});
