import type { Cluster } from './client.js';
import type { Keyspace } from './key-prefix.js';

/** How far etcd is, by a quorum: a member that is cut off from the others cannot say. */
export class CurrentRevision {
  readonly #cluster: Cluster;
  readonly #keyspace: Keyspace;
  #asking: Promise<unknown> | undefined;

  constructor(cluster: Cluster, keyspace: Keyspace) {
    this.#cluster = cluster;
    this.#keyspace = keyspace;
  }

  /**
   * A revision (etcd's own) that nothing written before `asked` (performance.now()) is beyond;
   * throws Unavailable.
   */
  async read(): Promise<{ readonly revision: number; readonly asked: number }> {
    let asked = 0;
    const { header } = await this.#cluster.read('range', (member, options) => {
      asked = performance.now();
      return member.kv.range({ key: this.#keyspace.key('meta/base'), count_only: true }, options);
    });
    return { revision: Number(header.revision), asked };
  }

  /**
   * Has the cluster tell it to all who listen; one read at a time, anyone who asks. Resolves when that
   * is over, with or without an answer.
   */
  ask(): Promise<unknown> {
    this.#asking ??= this.read()
      .catch(() => undefined)
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }
}
