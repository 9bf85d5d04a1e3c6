import type { IKeyValue, ITxnResponse } from 'etcd3';
import type { Entry, Revision } from '../storage.js';
import type { Cluster } from './client.js';
import { unavailable, type EtcdError } from './errors.js';
import type { Keyspace } from './key-prefix.js';

const together = 100;
/**
 * Milliseconds after which what waits goes on without what is under way: no one waits for twice the
 * patience.
 */
const moment = 100;

type Answer = { entry?: Entry; revision: Revision };

interface Waiter {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Quorum reads of single keys: all that arrive while one is under way share the next, which begins
 * when that one ends, or a moment later where it does not.
 */
export class ReadBatcher {
  readonly #cluster: Cluster;
  readonly #keyspace: Keyspace;
  #waiting = new Map<string, Waiter[]>();
  #flying = 0;
  #due = false;

  constructor(cluster: Cluster, keyspace: Keyspace) {
    this.#cluster = cluster;
    this.#keyspace = keyspace;
  }

  /** The latest entry, by a quorum read that begins after this call. */
  get(key: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const waiters = this.#waiting.get(key);
      if (waiters) waiters.push({ resolve, reject });
      else this.#waiting.set(key, [{ resolve, reject }]);
      if (this.#flying === 0) void this.#fly();
      else this.#flySoon();
    });
  }

  /**
   * What etcd holds under some keys now, all at one revision; asked until `until` (milliseconds
   * since the epoch).
   */
  async stored(
    keys: readonly string[],
    until?: number,
  ): Promise<{ kvs: (IKeyValue | undefined)[]; revision: Revision }> {
    const success = keys.map((key) => ({ request_range: { key: this.#keyspace.key(key) } }));
    const answer: ITxnResponse = await this.#cluster.read(
      'txn',
      (member, options) => member.kv.txn({ success }, options),
      until,
    );
    return {
      kvs: answer.responses.map(({ response_range }) => response_range.kvs[0]),
      revision: this.#keyspace.outward(answer.header.revision),
    };
  }

  #flySoon(): void {
    if (this.#due) return;
    this.#due = true;
    setTimeout(() => {
      this.#due = false;
      if (this.#waiting.size > 0) void this.#fly();
    }, moment);
  }

  async #fly(): Promise<void> {
    this.#flying += 1;
    await undefined;
    const taken = this.#waiting;
    this.#waiting = new Map();
    const keys = [...taken.keys()];
    const shares = Array.from({ length: Math.ceil(keys.length / together) }, (_, i) =>
      keys.slice(i * together, (i + 1) * together),
    );
    await Promise.all(shares.map((share) => this.#answer(share, taken)));
    this.#flying -= 1;
    if (this.#waiting.size > 0) void this.#fly();
  }

  async #answer(
    keys: readonly string[],
    taken: ReadonlyMap<string, readonly Waiter[]>,
  ): Promise<void> {
    try {
      const { kvs, revision } = await this.stored(keys);
      keys.forEach((key, i) => {
        const kv = kvs[i];
        const answer = kv ? { entry: this.#keyspace.entry(kv), revision } : { revision };
        for (const { resolve } of taken.get(key)!) resolve(answer);
      });
    } catch (error) {
      if (isOversize(error) && keys.length > 1)
        await Promise.all(keys.map((key) => this.#answer([key], taken)));
      else rejectAll(keys, taken, error);
    }
  }
}

function rejectAll(
  keys: readonly string[],
  taken: ReadonlyMap<string, readonly Waiter[]>,
  error: unknown,
): void {
  for (const key of keys)
    for (const { reject } of taken.get(key)!) reject(isFailure(error) ? unavailable(error) : error);
}

const isFailure = (error: unknown): error is EtcdError =>
  error instanceof Error && error.name === 'EtcdError';
const isOversize = (error: unknown): boolean => isFailure(error) && error.kind === 'oversize';
