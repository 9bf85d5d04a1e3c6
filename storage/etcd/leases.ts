import type { Write } from '../storage.js';
import { requestTimeoutMs, type Cluster } from './client.js';
import { isTransient } from './errors.js';

const hour = 3_600_000;

/**
 * Leases shared by all entries that expire in the same few minutes; they only collect what is long
 * over.
 */
export class Leases {
  readonly #cluster: Cluster;
  readonly #grace: number;
  readonly #width: number;
  readonly #granted = new Map<number, Promise<string>>();

  /**
   * `grace`: milliseconds an entry stays at least after its expiry; `width`: those that expire in
   * so many milliseconds share a lease.
   */
  constructor(cluster: Cluster, grace: number, width: number) {
    this.#cluster = cluster;
    this.#grace = grace;
    this.#width = width;
  }

  /** The lease for each expiry among the writes; undefined when there is none. */
  async of(writes: readonly Write[]): Promise<ReadonlyMap<number, string> | undefined> {
    const times = new Set(
      writes.flatMap((write) =>
        'put' in write && write.expires !== undefined ? [write.expires] : [],
      ),
    );
    if (times.size === 0) return undefined;
    return new Map(
      await Promise.all([...times].map(async (time) => [time, await this.#lease(time)] as const)),
    );
  }

  /** Forgets leases that etcd does not know any more. */
  forget(): void {
    this.#granted.clear();
  }

  #lease(expires: number): Promise<string> {
    const end = bucketEnd(expires, Date.now(), this.#width);
    let lease = this.#granted.get(end);
    if (!lease) {
      lease = this.#grant(end);
      this.#granted.set(end, lease);
      lease.catch(() => this.#granted.delete(end));
      this.#drop();
    }
    return lease;
  }

  async #grant(end: number): Promise<string> {
    const ttl = Math.ceil((Math.max(0, end - Date.now()) + this.#grace) / 1000);
    const request = { TTL: Math.max(1, Math.min(ttl, 9e9)), ID: 0 };
    const answer = await this.#cluster.insist(
      'leaseGrant',
      (member, options) => member.leaseClient.leaseGrant(request, options),
      isTransient,
      Date.now() + requestTimeoutMs,
    );
    return answer.ID;
  }

  #drop(): void {
    for (const end of this.#granted.keys()) if (end < Date.now()) this.#granted.delete(end);
  }
}

/** Near times share a bucket of the width, far ones one of an hour; what is over counts as now. */
function bucketEnd(expires: number, now: number, width: number): number {
  const time = Math.max(expires, now);
  const share = time - now > 6 * hour ? Math.max(width, hour) : width;
  return Math.ceil((time + 1) / share) * share;
}
