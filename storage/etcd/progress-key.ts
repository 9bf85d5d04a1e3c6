import type { Cluster } from './client.js';
import type { Keyspace } from './key-prefix.js';

/** The key that is written; it is outside of every key and range of the storage contract. */
export const markKey = '\0mark';

/**
 * Writes an event that every watch of the whole keyspace receives. A watch delivers events in
 * order, so this one proves that nothing before it is missing; needed on versions of etcd whose
 * progress responses may overtake events. The write is nested in a transaction, so that etcd does
 * not apply its quota and watches continue without space.
 */
export class ProgressKey {
  readonly #cluster: Cluster;
  readonly #keyspace: Keyspace;
  #isWriting = false;

  constructor(cluster: Cluster, keyspace: Keyspace) {
    this.#cluster = cluster;
    this.#keyspace = keyspace;
  }

  /** Writes one unless a write is in progress; callers that still need it call again. */
  write(): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    void this.#writeOnce()
      .catch(() => undefined)
      .finally(() => {
        this.#isWriting = false;
      });
  }

  async #writeOnce(): Promise<void> {
    const requestedAt = performance.now();
    const put = { request_put: { key: this.#keyspace.toEtcdKey(markKey), value: Buffer.alloc(0) } };
    const { header } = await this.#cluster.call(
      'txn',
      (member, options) =>
        member.kv.txn({ success: [{ request_txn: { success: [put] } }] }, options),
      Date.now() + this.#cluster.requestTimeoutMs,
    );
    this.#cluster.notifyRevision(Number(header.revision), requestedAt);
  }
}
