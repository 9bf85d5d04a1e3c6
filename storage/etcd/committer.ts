import { randomBytes } from 'node:crypto';
import { countCommit } from '../count-commit.js';
import { checkLimits } from '../limits.js';
import {
  type Check,
  type Committed,
  type Lost,
  type StorageMetrics,
  UnavailableError,
  type Write,
} from '../storage.js';
import { type BatchMember, takeBatch } from './batch.js';
import type { Cluster } from './client.js';
import { EtcdError, toUnavailableError, toUnknownOutcomeError } from './errors.js';
import { hasNonce, type Keyspace } from './key-prefix.js';
import type { Leases } from './leases.js';
import { nest, unnest } from './nested-txn.js';
import type { ReadBatcher } from './read-batcher.js';

const maxBatchesInFlight = 4;
const minSettleTimeMs = 500;

interface CommitterDependencies {
  readonly cluster: Cluster;
  readonly keyspace: Keyspace;
  readonly reads: ReadBatcher;
  readonly leases: Leases;
  readonly metrics?: StorageMetrics | undefined;
}

/**
 * Sends commits to etcd, all queued ones in one nested transaction. etcd orders the batches that
 * are in flight concurrently.
 */
export class EtcdCommitter {
  readonly #dependencies: CommitterDependencies;
  readonly #processId = randomBytes(8);
  readonly #queue: BatchMember[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  #sequence = 0;
  #isScheduled = false;

  constructor(dependencies: CommitterDependencies) {
    this.#dependencies = dependencies;
  }

  /** Resolves when a quorum has the commit, or it is lost. */
  async commit(checks: readonly Check[], writes: readonly Write[]): Promise<Committed | Lost> {
    const bytes = checkLimits(checks, writes);
    const deadline = Date.now() + this.#dependencies.cluster.requestTimeoutMs;
    const leases = await this.#leases(writes);
    const nonce = this.#nonce();
    const commit = new Promise<Committed | Lost>((resolve, reject) => {
      this.#queue.push({
        checks,
        writes,
        bytes,
        nonce,
        leases,
        deadline,
        resolve,
        reject,
      });
      this.#schedule();
    });
    return countCommit(this.#dependencies.metrics, commit);
  }

  /** Resolves when nothing is queued or in flight. */
  async settled(): Promise<void> {
    while (this.#queue.length > 0 || this.#inFlight.size > 0) {
      await (this.#inFlight.size > 0 ? Promise.race(this.#inFlight) : Promise.resolve());
    }
  }

  async #leases(writes: readonly Write[]): Promise<BatchMember['leases']> {
    try {
      return await this.#dependencies.leases.leasesFor(writes);
    } catch (error) {
      throw error instanceof EtcdError ? toUnavailableError(error) : error;
    }
  }

  #nonce(): Buffer {
    const nonce = Buffer.alloc(12);
    this.#processId.copy(nonce);
    this.#sequence = (this.#sequence + 1) >>> 0;
    nonce.writeUInt32BE(this.#sequence, 8);
    return nonce;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#sendBatches();
    });
  }

  #sendBatches(): void {
    while (this.#queue.length > 0 && this.#inFlight.size < maxBatchesInFlight) {
      const members = takeBatch(this.#queue).filter((member) => this.#isInTime(member));
      if (members.length === 0) continue;
      const sending = this.#send(members).finally(() => {
        this.#inFlight.delete(sending);
        this.#sendBatches();
      });
      this.#inFlight.add(sending);
    }
  }

  /** Returns whether a commit can still be sent; rejects it as not written if its time is over. */
  #isInTime({ deadline, reject }: BatchMember): boolean {
    if (Date.now() < deadline) return true;
    reject(new UnavailableError('etcd did not accept the commit in time'));
    return false;
  }

  async #send(members: readonly BatchMember[]): Promise<void> {
    const { cluster, keyspace } = this.#dependencies;
    const deadline = Math.min(...members.map((member) => member.deadline));
    this.#dependencies.metrics?.commitBatchSize.observe(members.length);
    try {
      const request = nest(keyspace, members);
      let requestedAt = 0;
      const response = await cluster.callWithRetry(
        'txn',
        (member, options) => {
          requestedAt = performance.now();
          return member.kv.txn(request, options);
        },
        ({ kind }) => kind === 'unsent',
        deadline,
      );
      cluster.notifyRevision(Number(response.header.revision), requestedAt);
      unnest(keyspace, members, response).forEach((result, i) => {
        members[i]!.resolve(result);
      });
    } catch (error) {
      await this.#handleFailure(members, error);
    }
  }

  /**
   * Handles a failed batch. An unknown outcome is resolved for each member; a refused batch is
   * retried one member at a time, so only the invalid one fails.
   */
  async #handleFailure(members: readonly BatchMember[], error: unknown): Promise<void> {
    if (!(error instanceof EtcdError)) {
      for (const member of members) member.reject(error);
    } else if (error.kind === 'unknown' || error.kind === 'oversize') {
      await Promise.all(members.map((member) => this.#resolveUnknownOutcome(member, error)));
    } else if (error.kind === 'lease') {
      await this.#retryWithNewLeases(members);
    } else if (error.kind === 'unsent' || members.length === 1) {
      for (const member of members) member.reject(toUnavailableError(error));
    } else {
      for (const member of members) await this.#send([member]);
    }
  }

  /** After a lease was lost, retries each member once with new leases. */
  async #retryWithNewLeases(members: readonly BatchMember[]): Promise<void> {
    this.#dependencies.leases.clear();
    for (const member of members) {
      try {
        await this.#send([
          {
            ...member,
            leases: await this.#leases(member.writes),
            deadline: Math.max(member.deadline, Date.now() + minSettleTimeMs),
          },
        ]);
      } catch (error) {
        member.reject(error);
      }
    }
  }

  /** Reads back whether the commit was made. Only a value with its nonce proves that it was. */
  async #resolveUnknownOutcome(member: BatchMember, etcdError: EtcdError): Promise<void> {
    const keys = member.writes.flatMap((write) => ('put' in write ? [write.put] : []));
    if (member.writes.length === 0) {
      return member.reject(new UnavailableError('etcd did not answer', { cause: etcdError }));
    }
    try {
      const { kvs } =
        keys.length > 0
          ? await this.#dependencies.reads.readKeys(
              keys,
              Math.max(member.deadline, Date.now() + minSettleTimeMs),
            )
          : { kvs: [] };
      const found = kvs.find((kv) => kv && hasNonce(kv.value, member.nonce));
      if (found) {
        member.resolve({
          committed: true,
          revision: this.#dependencies.keyspace.fromEtcdRevision(found.mod_revision),
        });
      } else {
        member.reject(toUnknownOutcomeError(etcdError));
      }
    } catch {
      member.reject(toUnknownOutcomeError(etcdError));
    }
  }
}
