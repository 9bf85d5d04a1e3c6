import { afterEach, expect, test } from '@jest/globals';
import { CachedProbe } from '../../cmd/vestibule/serve/cached-probe.js';

const now = performance.now;
afterEach(() => {
  performance.now = now;
});

test('the first answer is waited for; later ones are found out once a minute, behind whoever asks', async () => {
  let time = 1_000;
  performance.now = () => time;
  let asked = 0;
  const lately = new CachedProbe(async () => (asked += 1));
  expect(await Promise.all([lately.value(), lately.value()])).toEqual([1, 1]);
  time += 59_999;
  expect([await lately.value(), asked]).toEqual([1, 1]);
  time += 1;
  expect(await lately.value()).toBe(1);
  await lately.settled();
  expect([await lately.value(), asked]).toEqual([2, 2]);
});

test('where it cannot be found out, the last answer stands, and it is tried again; the first one throws', async () => {
  let time = 1_000;
  performance.now = () => time;
  let fails = true;
  let asked = 0;
  const lately = new CachedProbe(async () => {
    asked += 1;
    if (fails) throw new Error('no');
    return asked;
  });
  await expect(lately.value()).rejects.toThrow('no');
  fails = false;
  expect(await lately.value()).toBe(2);
  fails = true;
  time += 60_000;
  for (let i = 0; i < 2; i += 1) {
    expect(await lately.value()).toBe(2);
    await lately.settled();
  }
  expect(asked).toBe(4);
});
