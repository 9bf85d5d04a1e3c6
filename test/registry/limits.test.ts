import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NetworkLimits, raised, spendFrom, type Limit } from '../../registry/limits.js';
import type { StatusError } from '../../registry/status.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { under, type Storage } from '../../storage/storage.js';

let directory: string;
let storage: Storage;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'vestibule-limits-'));
  storage = await openEmbedded({ directory });
});
afterEach(async () => {
  await storage.close();
  rmSync(directory, { recursive: true });
});

const spent = async (work: Promise<void>): Promise<boolean> => {
  try {
    await work;
    return true;
  } catch (error) {
    expect((error as StatusError).reason).toBe('TooManyRequests');
    return false;
  }
};

describe('limits by network', () => {
  const minute = 60_000;
  const start = 1_000_000 * minute;

  test.each([1, 7, 10, 60, 119, 120])('of %i a minute are never exceeded by three replicas at once, and hardly undercut by one', async (most) => {
    const limit: Limit = { name: 'tested', most, seconds: 60 };
    const replicas = Array.from({ length: 3 }, () => new NetworkLimits(storage));
    const together = await Promise.all(Array.from({ length: most * 2 + 30 }, (_, i) => spent(replicas[i % 3]!.spend(limit, 'net', start))));
    expect(together.filter(Boolean).length).toBeLessThanOrEqual(most);
    const alone = new NetworkLimits(storage);
    let taken = 0;
    while (await spent(alone.spend(limit, 'another', start))) taken += 1;
    expect(taken).toBe(most);
  });

  test('let a crowd from one network in that comes at once and is within them', async () => {
    const limit: Limit = { name: 'tested', most: 60, seconds: 60 };
    const limits = new NetworkLimits(storage);
    const crowd = await Promise.all(Array.from({ length: 61 }, () => spent(limits.spend(limit, 'net', start))));
    expect(crowd.filter(Boolean)).toHaveLength(60);
  });

  test('begin anew with the next window, and tell how long it takes', async () => {
    const limit: Limit = { name: 'tested', most: 5, seconds: 60 };
    const limits = new NetworkLimits(storage);
    for (let i = 0; i < 5; i += 1) await limits.spend(limit, 'net', start + 10_000);
    await expect(limits.spend(limit, 'net', start + 10_000)).rejects.toMatchObject({ details: { retryAfterSeconds: 50 } });
    await expect(limits.spend(limit, 'net', start + 59_999)).rejects.toMatchObject({ details: { retryAfterSeconds: 1 } });
    await limits.spend(limit, 'net', start + 60_000);
  });

  test('hold so many blocks in memory; one more lets go of the oldest alone', async () => {
    let drawn = 0;
    const empty = { get: async () => ({ revision: 1 }), commit: async () => { drawn += 1; return { committed: true, revision: 1 } } } as unknown as Storage;
    const limit: Limit = { name: 'many', most: 100, seconds: 60 };
    const limits = new NetworkLimits(empty);
    const spend = async (from: number, to: number): Promise<number> => { const before = drawn; for (let i = from; i < to; i += 1) await limits.spend(limit, `net ${i}`, start); return drawn - before };
    expect(await spend(0, 20_000)).toBe(20_000);
    expect(await spend(0, 20_000)).toBe(0);
    expect(await spend(20_000, 20_100)).toBe(100);
    expect(await spend(100, 20_100)).toBe(0);
    expect(await spend(0, 100)).toBe(100);
  });

  test('are kept apart by network and by name, raised by the factor, and cost a commit a tenth', async () => {
    const [a, b]: Limit[] = [{ name: 'a', most: 10, seconds: 60 }, { name: 'b', most: 10, seconds: 60 }];
    const limits = new NetworkLimits(storage, 2);
    for (let i = 0; i < 20; i += 1) await limits.spend(a!, 'net', start);
    expect(await spent(limits.spend(a!, 'net', start))).toBe(false);
    expect([await spent(limits.spend(b!, 'net', start)), await spent(limits.spend(a!, 'other', start))]).toEqual([true, true]);
    const { entries } = await storage.list(under('limits/'));
    expect(entries).toHaveLength(3);
    expect(entries.every(({ key, expires }) => !key.includes('net') && expires === start + 60_000)).toBe(true);
    expect(raised(a!, 0.05).most).toBe(1);
  });

  test('two clocks on either side of a window’s end do not open them twice', async () => {
    const limit: Limit = { name: 'tested', most: 20, seconds: 60 };
    const [ahead, behind] = [new NetworkLimits(storage), new NetworkLimits(storage)];
    const taken = { before: 0, after: 0 };
    for (let i = 0; i < 20; i += 1) if (await spent(behind.spend(limit, 'net', start + 59_000))) taken.before += 1;
    for (let i = 0; i < 60; i += 1) {
      if (await spent(ahead.spend(limit, 'net', start + minute))) taken.after += 1;
      if (await spent(behind.spend(limit, 'net', start + 59_999))) taken.after += 1;
    }
    expect(taken).toEqual({ before: 20, after: 20 });
  });

  test('a clock that was far ahead does not keep them shut', async () => {
    const limit: Limit = { name: 'tested', most: 10, seconds: 60 };
    const [wrong, right] = [new NetworkLimits(storage), new NetworkLimits(storage)];
    for (let i = 0; i < 10; i += 1) await wrong.spend(limit, 'net', start + 1440 * minute);
    expect(await spent(right.spend(limit, 'net', start))).toBe(true);
    expect(await spent(wrong.spend(limit, 'net', start))).toBe(true);
  });
});

describe('the sliding log', () => {
  test('lets no more through than `most` in any window, and refuses nobody who may', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 20 }), fc.array(fc.integer({ min: 0, max: 8_000 }), { maxLength: 60 }), (most, seconds, gaps) => {
      const limit: Limit = { name: 'tested', most, seconds };
      const passed: number[] = [];
      let [log, now] = [undefined as Buffer | undefined, 1_000_000];
      for (const gap of gaps) {
        now += gap;
        const held = passed.filter((time) => time > now - seconds * 1000).length;
        try {
          log = spendFrom(limit, log, now).value;
          expect(held).toBeLessThan(most);
          passed.push(now);
        } catch (error) {
          const wait = (error as StatusError).details?.retryAfterSeconds;
          if (wait === undefined) throw error;
          expect(held).toBe(most);
          expect(spendFrom(limit, log, now + wait * 1000)).toBeDefined();
          if (wait > 1) expect(() => spendFrom(limit, log, now + wait * 1000 - 1001)).toThrow();
        }
      }
    }), { numRuns: 300 });
  });

  test('of a limit in the thousands stays short, and lets no more through', () => {
    fc.assert(fc.property(fc.integer({ min: 65, max: 400 }), fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 800, maxLength: 1500 }), (most, gaps) => {
      const limit: Limit = { name: 'tested', most, seconds: 10 };
      const passed: number[] = [];
      let [log, now, refused] = [undefined as Buffer | undefined, 1_000_000, 0];
      for (const gap of gaps) {
        now += gap;
        try {
          log = spendFrom(limit, log, now).value;
          passed.push(now);
        } catch {
          refused += 1;
        }
        expect(passed.filter((time) => time > now - 10_000).length).toBeLessThanOrEqual(most);
        expect(log!.length).toBeLessThan(66 * 24);
      }
      if (gaps.reduce((sum, gap) => sum + gap, 0) < 9_000) expect(passed.length + refused).toBe(gaps.length);
    }), { numRuns: 20 });
  });
});
