import { requestTimeoutMs, type Cluster } from './client.js';
import type { Keyspace } from './key-prefix.js';

/** The key that is written; no key of the contract begins so, and no range of it reaches there. */
export const markKey = '\0mark';

/**
 * Writes an event that every watch of the whole keyspace is told. A watch tells its events in
 * order, so the mark proves that nothing before it is missing; on an etcd whose answers about
 * progress may overtake events nothing else does. It is nested in a transaction of its own, where
 * etcd's quota does not count it: an etcd without room takes it still, and watches go on.
 */
export class ProgressKey {
  readonly #cluster: Cluster;
  readonly #keyspace: Keyspace;
  #writing = false;

  constructor(cluster: Cluster, keyspace: Keyspace) {
    this.#cluster = cluster;
    this.#keyspace = keyspace;
  }

  /** Writes one unless one is being written; anyone who still needs it asks again. */
  mark(): void {
    if (this.#writing) return;
    this.#writing = true;
    void this.#write()
      .catch(() => undefined)
      .finally(() => {
        this.#writing = false;
      });
  }

  async #write(): Promise<void> {
    const asked = performance.now();
    const put = { request_put: { key: this.#keyspace.key(markKey), value: Buffer.alloc(0) } };
    const { header } = await this.#cluster.call(
      'txn',
      (member, options) =>
        member.kv.txn({ success: [{ request_txn: { success: [put] } }] }, options),
      Date.now() + requestTimeoutMs,
    );
    this.#cluster.saw(Number(header.revision), asked);
  }
}
