import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { defaultLimits } from '../../kinds/limits/limit-settings.js';
import { NetworkLimits } from '../../registry/limits/network-limits.js';
import type { Limit } from '../../registry/limits/rate-limit.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { openEtcd } from '../../storage/etcd/etcd.js';
import type { Storage } from '../../storage/storage.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { countCommits } from '../support/count-commits.js';
import { temporary } from '../support/service.js';
import { stores } from '../support/stores.js';

const inFlight = 64;
const networkCount = 18;
const now = 1_000_000 * 60_000;
const settings = { ...defaultLimits, networkFactorWide: 4, limitRecords: 1_000_000 };
const limit: Limit = { name: 'tested', max: 10, seconds: 60 };

/** The address of a client: of so many /24s in turn, each of its own. */
const addressOf = (i: number, wideCount = networkCount): string =>
  `198.18.${i % wideCount}.${1 + Math.floor(i / wideCount)}`;

describe.each(stores)('limits of many networks at once, on %s', (store) => {
  let etcd: EtcdServer | undefined;
  let prefixes = 0;
  let storages: Storage[];
  beforeEach(async () => {
    if (store === 'embedded') {
      const storage = await openEmbedded({ directory: temporary() });
      storages = [storage, storage];
      return;
    }
    etcd ??= await startEtcd();
    const options = { servers: [etcd.endpoint], prefix: `/limits${(prefixes += 1)}/` };
    storages = [await openEtcd(options), await openEtcd(options)];
  });
  afterEach(() => Promise.all([...new Set(storages)].map((storage) => storage.close())));
  afterAll(() => etcd?.stop());

  /** Spends once for each client, at the replica that is its turn; how many were admitted, by /24. */
  async function admitted(
    replicas: readonly NetworkLimits[],
    addresses: readonly string[],
  ): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    await Promise.all(
      addresses.map(async (address, i) => {
        try {
          await replicas[i % replicas.length]!.spend(limit, address, now);
        } catch (error) {
          expect(error).toMatchObject({ reason: 'TooManyRequests' });
          return;
        }
        const wide = address.replace(/\.\d+$/, '');
        counts.set(wide, (counts.get(wide) ?? 0) + 1);
      }),
    );
    return counts;
  }

  test.each([1, networkCount])(
    'one replica loses no commit, for clients of %i networks',
    async (wideCount) => {
      const commits = countCommits(storages[0]!, 'limits/tested/');
      const limits = new NetworkLimits(storages[0]!, 1, settings);
      const addresses = Array.from({ length: inFlight }, (_, i) => addressOf(i, wideCount));
      const first = admitted([limits], addresses.slice(0, wideCount));
      await Promise.resolve();
      await new Promise(setImmediate); // the first of each network are on their way
      await Promise.all([first, admitted([limits], addresses.slice(wideCount))]);
      expect(commits.lost).toBe(0);
      expect(commits.made).toBeLessThanOrEqual(2 * wideCount);
    },
  );

  test('two replicas never admit more than allowed, however many come at once', async () => {
    const replicas = storages.map((storage) => new NetworkLimits(storage, 1, settings));
    const perWide = 4 * limit.max;
    const addresses = Array.from({ length: 2 * networkCount * perWide }, (_, i) => addressOf(i));
    const counts = new Map<string, number>();
    for (let from = 0; from < addresses.length; from += inFlight) {
      for (const [wide, count] of await admitted(
        replicas,
        addresses.slice(from, from + inFlight),
      )) {
        counts.set(wide, (counts.get(wide) ?? 0) + count);
      }
    }
    expect(counts.size).toBe(networkCount);
    for (const count of counts.values()) expect(count).toBeLessThanOrEqual(perWide);
  });

  test('two replicas never admit more from one address than it may', async () => {
    const replicas = storages.map((storage) => new NetworkLimits(storage, 1, settings));
    const addresses = Array.from({ length: inFlight }, () => addressOf(0));
    const counts = await admitted(replicas, addresses);
    expect(counts.get('198.18.0')).toBeLessThanOrEqual(limit.max);
    expect(counts.get('198.18.0')).toBeGreaterThan(0);
  });
});
