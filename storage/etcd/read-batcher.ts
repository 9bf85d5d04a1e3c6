import type { IKeyValue, ITxnResponse } from 'etcd3';
import type { Entry, Revision } from '../storage.js';
import type { Cluster } from './client.js';
import { type EtcdError, toUnavailableError } from './errors.js';
import type { Keyspace } from './key-prefix.js';

const maxKeysPerTxn = 100;
/**
 * After so many milliseconds, waiting reads no longer wait for the ones in flight, so no caller
 * waits for two timeouts.
 */
const maxDelayMs = 100;

type Answer = { entry?: Entry; revision: Revision };

interface Waiter {
  readonly resolve: (response: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Batches linearizable reads of single keys. All that arrive while one batch is in flight share the
 * next, which starts when that batch ends or after a short delay.
 */
export class ReadBatcher {
  readonly #cluster: Cluster;
  readonly #keyspace: Keyspace;
  #waiting = new Map<string, Waiter[]>();
  #inFlightCount = 0;
  #isFlushScheduled = false;

  constructor(cluster: Cluster, keyspace: Keyspace) {
    this.#cluster = cluster;
    this.#keyspace = keyspace;
  }

  /** Returns the latest entry by a linearizable read that starts after this call. */
  get(key: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const waiters = this.#waiting.get(key);
      if (waiters) {
        waiters.push({ resolve, reject });
      } else {
        this.#waiting.set(key, [{ resolve, reject }]);
      }
      if (this.#inFlightCount === 0) {
        void this.#flush();
      } else {
        this.#scheduleFlush();
      }
    });
  }

  /** Reads several keys at one revision, before `deadline` (milliseconds since the epoch). */
  async readKeys(
    keys: readonly string[],
    deadline?: number,
  ): Promise<{ kvs: (IKeyValue | undefined)[]; revision: Revision }> {
    const success = keys.map((key) => ({ request_range: { key: this.#keyspace.toEtcdKey(key) } }));
    const response: ITxnResponse = await this.#cluster.read(
      'txn',
      (member, options) => member.kv.txn({ success }, options),
      deadline,
    );
    return {
      kvs: response.responses.map(({ response_range }) => response_range.kvs[0]),
      revision: this.#keyspace.fromEtcdRevision(response.header.revision),
    };
  }

  #scheduleFlush(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    setTimeout(() => {
      this.#isFlushScheduled = false;
      if (this.#waiting.size > 0) void this.#flush();
    }, maxDelayMs);
  }

  async #flush(): Promise<void> {
    this.#inFlightCount += 1;
    await undefined;
    const waiters = this.#waiting;
    this.#waiting = new Map();
    const keys = [...waiters.keys()];
    const chunks = Array.from({ length: Math.ceil(keys.length / maxKeysPerTxn) }, (_, i) =>
      keys.slice(i * maxKeysPerTxn, (i + 1) * maxKeysPerTxn),
    );
    await Promise.all(chunks.map((chunk) => this.#readChunk(chunk, waiters)));
    this.#inFlightCount -= 1;
    if (this.#waiting.size > 0) void this.#flush();
  }

  async #readChunk(
    keys: readonly string[],
    waiters: ReadonlyMap<string, readonly Waiter[]>,
  ): Promise<void> {
    try {
      const { kvs, revision } = await this.readKeys(keys);
      keys.forEach((key, i) => {
        const kv = kvs[i];
        const response = kv ? { entry: this.#keyspace.toEntry(kv), revision } : { revision };
        for (const { resolve } of waiters.get(key)!) resolve(response);
      });
    } catch (error) {
      if (isOversize(error) && keys.length > 1) {
        await Promise.all(keys.map((key) => this.#readChunk([key], waiters)));
      } else {
        rejectAll(keys, waiters, error);
      }
    }
  }
}

function rejectAll(
  keys: readonly string[],
  waiters: ReadonlyMap<string, readonly Waiter[]>,
  error: unknown,
): void {
  for (const key of keys) {
    for (const { reject } of waiters.get(key)!) {
      reject(isEtcdError(error) ? toUnavailableError(error) : error);
    }
  }
}

const isEtcdError = (error: unknown): error is EtcdError =>
  error instanceof Error && error.name === 'EtcdError';
const isOversize = (error: unknown): boolean => isEtcdError(error) && error.kind === 'oversize';
