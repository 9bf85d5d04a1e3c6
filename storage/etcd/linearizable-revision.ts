import { baseKey } from '../snapshot/layout.js';
import type { Cluster } from './client.js';
import type { Keyspace } from './key-prefix.js';

/** Reads etcd's current revision from a quorum; a partitioned member cannot answer that. */
export class CurrentRevision {
  readonly #cluster: Cluster;
  readonly #keyspace: Keyspace;
  #pendingRead: Promise<unknown> | undefined;

  constructor(cluster: Cluster, keyspace: Keyspace) {
    this.#cluster = cluster;
    this.#keyspace = keyspace;
  }

  /**
   * Returns a revision (etcd's own) that includes everything written before `requestedAt`
   * (performance.now()); throws UnavailableError.
   */
  async read(): Promise<{ readonly revision: number; readonly requestedAt: number }> {
    let requestedAt = 0;
    const { header } = await this.#cluster.read('range', (member, options) => {
      requestedAt = performance.now();
      return member.kv.range({ key: this.#keyspace.toEtcdKey(baseKey), count_only: true }, options);
    });
    return { revision: Number(header.revision), requestedAt };
  }

  /**
   * Makes the cluster notify its listeners of the current revision; concurrent callers share one
   * read. Resolves when it is done, even after a failure.
   */
  refresh(): Promise<unknown> {
    this.#pendingRead ??= this.read()
      .catch(() => undefined)
      .finally(() => {
        this.#pendingRead = undefined;
      });
    return this.#pendingRead;
  }
}
