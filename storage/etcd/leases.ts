import type { Write } from '../storage.js';
import type { Cluster } from './client.js';
import { isTransient } from './errors.js';

const hourMs = 3_600_000;

/**
 * Leases that entries expiring within the same few minutes share. They only collect entries long
 * after their expiry.
 */
export class Leases {
  readonly #cluster: Cluster;
  readonly #graceMs: number;
  readonly #bucketMs: number;
  readonly #granted = new Map<number, Promise<string>>();

  /**
   * `graceMs`: how long an entry stays at least after its expiry; `bucketMs`: entries that expire
   * within this time share a lease.
   */
  constructor(cluster: Cluster, graceMs: number, bucketMs: number) {
    this.#cluster = cluster;
    this.#graceMs = graceMs;
    this.#bucketMs = bucketMs;
  }

  /** Returns the lease for each expiry in the writes, or undefined if there is none. */
  async leasesFor(writes: readonly Write[]): Promise<ReadonlyMap<number, string> | undefined> {
    const times = new Set(
      writes.flatMap((write) =>
        'put' in write && write.expires !== undefined ? [write.expires] : [],
      ),
    );
    if (times.size === 0) return undefined;
    return new Map(
      await Promise.all(
        [...times].map(async (expiry) => [expiry, await this.#lease(expiry)] as const),
      ),
    );
  }

  /** Forgets all leases after etcd lost one. */
  clear(): void {
    this.#granted.clear();
  }

  #lease(expires: number): Promise<string> {
    const end = bucketEnd(expires, Date.now(), this.#bucketMs);
    let lease = this.#granted.get(end);
    if (!lease) {
      lease = this.#grant(end);
      this.#granted.set(end, lease);
      lease.catch(() => this.#granted.delete(end));
      this.#removeExpired();
    }
    return lease;
  }

  async #grant(end: number): Promise<string> {
    const ttl = Math.ceil((Math.max(0, end - Date.now()) + this.#graceMs) / 1000);
    const request = { TTL: Math.max(1, Math.min(ttl, 9e9)), ID: 0 };
    const response = await this.#cluster.callWithRetry(
      'leaseGrant',
      (member, options) => member.leaseClient.leaseGrant(request, options),
      isTransient,
      Date.now() + this.#cluster.requestTimeoutMs,
    );
    return response.ID;
  }

  #removeExpired(): void {
    for (const end of this.#granted.keys()) if (end < Date.now()) this.#granted.delete(end);
  }
}

/**
 * Near expiries share a bucket of `bucketMs`, those in more than six hours one of an hour. Past
 * ones count as now.
 */
function bucketEnd(expires: number, now: number, bucketMs: number): number {
  const expiry = Math.max(expires, now);
  const size = expiry - now > 6 * hourMs ? Math.max(bucketMs, hourMs) : bucketMs;
  return Math.ceil((expiry + 1) / size) * size;
}
