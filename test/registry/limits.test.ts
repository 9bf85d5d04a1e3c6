import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { defaultLimits } from '../../kinds/limits/limit-settings.js';
import { NetworkLimits } from '../../registry/limits/network-limits.js';
import { addUse, type Limit, scaleLimit } from '../../registry/limits/rate-limit.js';
import type { StatusError } from '../../registry/status/status.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { prefixRange, type Storage } from '../../storage/storage.js';
import fc from '../support/fast-check.js';

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

  test.each([1, 7, 10, 60, 119, 120])(
    'of %i a minute are never exceeded by three replicas at once',
    async (max) => {
      const limit: Limit = { name: 'tested', max, seconds: 60 };
      const replicas = Array.from({ length: 3 }, () => new NetworkLimits(storage));
      const together = await Promise.all(
        Array.from({ length: max * 2 + 30 }, (_, i) =>
          spent(replicas[i % 3]!.spend(limit, 'net', start)),
        ),
      );
      expect(together.filter(Boolean).length).toBeLessThanOrEqual(max);
      const alone = new NetworkLimits(storage);
      let taken = 0;
      while (await spent(alone.spend(limit, 'another', start))) taken += 1;
      expect(taken).toBe(max);
    },
  );

  test.each([20, 50, 60, 120, 600])(
    'of %i a minute are used up by three replicas in turn, to the last one',
    async (max) => {
      const limit: Limit = { name: 'tested', max, seconds: 60 };
      const replicas = Array.from({ length: 3 }, () => new NetworkLimits(storage));
      for (let i = 0; i < max; i += 1) await replicas[i % 3]!.spend(limit, 'net', start);
      expect(await spent(replicas[max % 3]!.spend(limit, 'net', start))).toBe(false);
    },
  );

  test('admit a crowd from one network that comes at once and is within them', async () => {
    const limit: Limit = { name: 'tested', max: 60, seconds: 60 };
    const limits = new NetworkLimits(storage);
    const crowd = await Promise.all(
      Array.from({ length: 61 }, () => spent(limits.spend(limit, 'net', start))),
    );
    expect(crowd.filter(Boolean)).toHaveLength(60);
  });

  test('begin again with the next window, and say how long that takes', async () => {
    const limit: Limit = { name: 'tested', max: 5, seconds: 60 };
    const limits = new NetworkLimits(storage);
    for (let i = 0; i < 5; i += 1) await limits.spend(limit, 'net', start + 10_000);
    await expect(limits.spend(limit, 'net', start + 10_000)).rejects.toMatchObject({
      details: { retryAfterSeconds: 50 },
    });
    await expect(limits.spend(limit, 'net', start + 59_999)).rejects.toMatchObject({
      details: { retryAfterSeconds: 1 },
    });
    await limits.spend(limit, 'net', start + 60_000);
  });

  test.each(['net', '192.0.2.7', '2001:db8:1:2::/64'])(
    'are hardly used up by replicas of which each is killed after one request from %s',
    async (network) => {
      const limit: Limit = { name: 'tested', max: 100, seconds: 60 };
      for (let life = 0; life < 40; life += 1) {
        await new NetworkLimits(storage).spend(limit, network, start);
      }
      const busy = new NetworkLimits(storage);
      for (let i = 0; i < 20; i += 1) await busy.spend(limit, network, start);
    },
  );

  test('hold so many blocks in memory; one more lets go of the oldest alone', async () => {
    let drawn = 0;
    const empty = {
      get: async () => ({ revision: 1 }),
      commit: async (_checks: unknown, [write]: [{ put: string }]) => {
        drawn += Number(write.put.startsWith('limits/many/'));
        return { committed: true, revision: 1 };
      },
    } as unknown as Storage;
    const limit: Limit = { name: 'many', max: 1_000, seconds: 60 };
    const limits = new NetworkLimits(empty, 1, { ...defaultLimits, limitRecords: 1_000_000 });
    const spend = async (from: number, to: number): Promise<number> => {
      const before = drawn;
      for (let i = from; i < to; i += 1) await limits.spend(limit, `net ${i}`, start);
      return drawn - before;
    };
    expect(await spend(0, 20_000)).toBe(20_000);
    expect(await spend(0, 20_000)).toBe(0);
    expect(await spend(20_000, 20_100)).toBe(100);
    expect(await spend(100, 20_100)).toBe(0);
    expect(await spend(0, 100)).toBe(100);
  });

  test('are kept apart by network and by name, and raised by the factor', async () => {
    const [a, b]: Limit[] = [
      { name: 'a', max: 10, seconds: 60 },
      { name: 'b', max: 10, seconds: 60 },
    ];
    const limits = new NetworkLimits(storage, 2);
    for (let i = 0; i < 20; i += 1) await limits.spend(a!, 'net', start);
    expect(await spent(limits.spend(a!, 'net', start))).toBe(false);
    expect([
      await spent(limits.spend(b!, 'net', start)),
      await spent(limits.spend(a!, 'other', start)),
    ]).toEqual([true, true]);
    const entries = (await storage.list(prefixRange('limits/'))).entries.filter(
      ({ key }) => !key.startsWith('limits/limitrecords/'),
    );
    expect(entries).toHaveLength(3);
    expect(
      entries.every(({ key, expires }) => !key.includes('net') && expires === start + 60_000),
    ).toBe(true);
    expect(scaleLimit(a!, 0.05).max).toBe(1);
  });

  test('two clocks on either side of a window’s end do not open them twice', async () => {
    const limit: Limit = { name: 'tested', max: 20, seconds: 60 };
    const [ahead, behind] = [new NetworkLimits(storage), new NetworkLimits(storage)];
    const taken = { before: 0, after: 0 };
    for (let i = 0; i < 20; i += 1) {
      if (await spent(behind.spend(limit, 'net', start + 59_000))) taken.before += 1;
    }
    for (let i = 0; i < 60; i += 1) {
      if (await spent(ahead.spend(limit, 'net', start + minute))) taken.after += 1;
      if (await spent(behind.spend(limit, 'net', start + 59_999))) taken.after += 1;
    }
    expect(taken).toEqual({ before: 20, after: 20 });
  });

  test('a clock that was far ahead does not keep them shut', async () => {
    const limit: Limit = { name: 'tested', max: 10, seconds: 60 };
    const [wrong, right] = [new NetworkLimits(storage), new NetworkLimits(storage)];
    for (let i = 0; i < 10; i += 1) await wrong.spend(limit, 'net', start + 1440 * minute);
    expect(await spent(right.spend(limit, 'net', start))).toBe(true);
    expect(await spent(wrong.spend(limit, 'net', start))).toBe(true);
  });
});

describe('limits of nested networks', () => {
  const limit: Limit = { name: 'nested', max: 10, seconds: 60 };
  const start = 1_000_000 * 60_000;
  const limits = { ...defaultLimits, networkFactorMiddle: 2, networkFactorWide: 4 };
  const site = (subnet: number): string => `2001:db8:7:${subnet.toString(16)}::/64`;

  /** How often each of these networks in turn may, until no one may any more. */
  async function drained(
    replicas: readonly NetworkLimits[],
    networks: readonly string[],
    of = limit,
  ): Promise<number> {
    let taken = 0;
    for (let refused = 0, i = 0; refused < networks.length * replicas.length; i += 1) {
      if (
        await spent(replicas[i % replicas.length]!.spend(of, networks[i % networks.length]!, start))
      ) {
        taken += 1;
        refused = 0;
      } else {
        refused += 1;
      }
    }
    return taken;
  }

  test('a /64, the /56 and the /48 around it, an address and its /24 each have a ceiling', async () => {
    const replicas = (): NetworkLimits[] => [
      new NetworkLimits(storage, 1, limits),
      new NetworkLimits(storage, 1, limits),
    ];
    expect(await drained(replicas(), [site(0x4400)])).toBe(10);
    expect(
      await drained(
        replicas(),
        Array.from({ length: 20 }, (_, i) => site(0x4400 + i)),
      ),
    ).toBe(10);
    expect(
      await drained(
        replicas(),
        Array.from({ length: 200 }, (_, i) => site(i << 8)),
      ),
    ).toBe(20);
    expect(await drained(replicas(), ['2001:db8:8:1::/64'])).toBe(10);
    expect(
      await drained(
        replicas(),
        Array.from({ length: 250 }, (_, i) => `198.51.100.${i}`),
      ),
    ).toBe(40);
    expect(await drained(replicas(), ['198.51.101.1'])).toBe(10);
  });

  test('networks of one site share one record', async () => {
    const one = new NetworkLimits(storage, 1, limits);
    for (let i = 0; i < 30; i += 1) await one.spend(limit, site(i << 8), start);
    expect((await storage.list(prefixRange('limits/nested/'))).entries).toHaveLength(1);
  });

  test('what everybody may is never exceeded by many sites on three replicas', async () => {
    const of: Limit = { ...limit, inAll: 57 };
    const replicas = Array.from({ length: 3 }, () => new NetworkLimits(storage, 1, limits));
    const sites = Array.from({ length: 40 }, (_, i) => `2001:db8:${(i + 1).toString(16)}:1::/64`);
    const taken = await drained(replicas, sites, of);
    expect(taken).toBeLessThanOrEqual(57);
    expect(taken).toBeGreaterThan(50);
    expect(await replicas[0]!.ratio(of, start)).toBe(1);
    expect(await spent(replicas[0]!.spend(of, '203.0.113.9', start))).toBe(false);
    replicas[0]!.refund(of, sites[0]!, start);
    expect(await spent(replicas[0]!.spend(of, sites[0]!, start))).toBe(true);
    expect(await replicas[0]!.ratio(of, start + 60_000)).toBe(0);
  });

  test('amounts are taken whole or not at all', async () => {
    const one = new NetworkLimits(storage, 1, limits);
    const bytes: Limit = { name: 'bytes', max: 1_000, seconds: 60 };
    await one.spend(bytes, site(1), start, 900);
    expect(await spent(one.spend(bytes, site(1), start, 101))).toBe(false);
    expect(await spent(one.spend(bytes, site(1), start, 100))).toBe(true);
    expect(await spent(one.spend(bytes, site(1), start, 1))).toBe(false);
  });

  test('records of limits are counted too: beyond so many, new networks are refused', async () => {
    const one = new NetworkLimits(storage, 1, { ...limits, limitRecords: 25 });
    const answers: boolean[] = [];
    for (let i = 0; i < 40; i += 1) {
      answers.push(await spent(one.spend(limit, `2001:db8:${(i + 1).toString(16)}:1::/64`, start)));
    }
    expect(answers.filter(Boolean)).toHaveLength(25);
    expect((await storage.list(prefixRange('limits/nested/'))).entries).toHaveLength(25);
    expect([
      await spent(one.spend(limit, '2001:db8:1:1::/64', start)),
      await spent(one.spend(limit, '2001:db8:1:2::/64', start)),
    ]).toEqual([true, true]);
  });
});

describe('the sliding log', () => {
  test('admits at most `most` in any window, and refuses no call within that', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: 0, max: 8_000 }), { maxLength: 60 }),
        (max, seconds, gaps) => {
          const limit: Limit = { name: 'tested', max, seconds };
          const passed: number[] = [];
          let [log, now] = [undefined as Buffer | undefined, 1_000_000];
          for (const gap of gaps) {
            now += gap;
            const held = passed.filter((time) => time > now - seconds * 1000).length;
            try {
              log = addUse(limit, log, now).value;
              expect(held).toBeLessThan(max);
              passed.push(now);
            } catch (error) {
              const wait = (error as StatusError).details?.retryAfterSeconds;
              if (wait === undefined) throw error;
              expect(held).toBe(max);
              expect(addUse(limit, log, now + wait * 1000)).toBeDefined();
              if (wait > 1) expect(() => addUse(limit, log, now + wait * 1000 - 1001)).toThrow();
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test('of a limit in the thousands stays short, and lets no more through', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 65, max: 400 }),
        fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 800, maxLength: 1500 }),
        (max, gaps) => {
          const limit: Limit = { name: 'tested', max, seconds: 10 };
          const passed: number[] = [];
          let [log, now, refused] = [undefined as Buffer | undefined, 1_000_000, 0];
          for (const gap of gaps) {
            now += gap;
            try {
              log = addUse(limit, log, now).value;
              passed.push(now);
            } catch {
              refused += 1;
            }
            expect(passed.filter((time) => time > now - 10_000).length).toBeLessThanOrEqual(max);
            expect(log!.length).toBeLessThan(66 * 24);
          }
          if (gaps.reduce((sum, gap) => sum + gap, 0) < 9_000) {
            expect(passed.length + refused).toBe(gaps.length);
          }
        },
      ),
      { numRuns: 20 },
    );
  });
});
