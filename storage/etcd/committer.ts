import { randomBytes } from 'node:crypto';
import { checkLimits } from '../limits.js';
import {
  UnavailableError,
  type Check,
  type Committed,
  type Lost,
  type Revision,
  type StorageMetrics,
  type Write,
} from '../storage.js';
import { takeBatch, type BatchMember } from './batch.js';
import { requestTimeoutMs, type Cluster } from './client.js';
import { EtcdError, unavailable, unknown } from './errors.js';
import { carries, type Keyspace } from './key-prefix.js';
import type { Leases } from './leases.js';
import { detectConflict, writtenBy, type Written } from './early-conflict.js';
import type { ReadBatcher } from './read-batcher.js';
import { countCommit } from '../count-commit.js';
import { nest, unnest } from './nested-txn.js';

const batchesInFlight = 4;
const settleTime = 500;

interface Parts {
  readonly cluster: Cluster;
  readonly keyspace: Keyspace;
  readonly reads: ReadBatcher;
  readonly leases: Leases;
  readonly metrics?: StorageMetrics | undefined;
}

/**
 * Sends commits to etcd, what waits in one nested transaction; etcd itself orders the batches that
 * are in flight at once.
 */
export class EtcdCommitter {
  readonly #parts: Parts;
  readonly #process = randomBytes(8);
  readonly #queue: BatchMember[] = [];
  readonly #flying = new Set<Promise<void>>();
  #serial = 0;
  #arrivals = 0;
  #scheduled = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Resolves when a quorum has the commit, or it is lost. */
  async commit(checks: readonly Check[], writes: readonly Write[]): Promise<Committed | Lost> {
    const bytes = checkLimits(checks, writes);
    const until = Date.now() + requestTimeoutMs;
    const leases = await this.#leases(writes);
    const nonce = this.#nonce();
    const commit = new Promise<Committed | Lost>((resolve, reject) => {
      this.#arrivals += 1;
      this.#queue.push({
        checks,
        writes,
        bytes,
        nonce,
        leases,
        until,
        arrival: this.#arrivals,
        resolve,
        reject,
      });
      this.#schedule();
    });
    return countCommit(this.#parts.metrics, commit);
  }

  /** Resolves when nothing is queued or in flight. */
  async settled(): Promise<void> {
    while (this.#queue.length > 0 || this.#flying.size > 0)
      await (this.#flying.size > 0 ? Promise.race(this.#flying) : Promise.resolve());
  }

  async #leases(writes: readonly Write[]): Promise<BatchMember['leases']> {
    try {
      return await this.#parts.leases.of(writes);
    } catch (error) {
      throw error instanceof EtcdError ? unavailable(error) : error;
    }
  }

  #nonce(): Buffer {
    const nonce = Buffer.alloc(12);
    this.#process.copy(nonce);
    this.#serial = (this.#serial + 1) >>> 0;
    nonce.writeUInt32BE(this.#serial, 8);
    return nonce;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#fly();
    });
  }

  #fly(): void {
    while (this.#queue.length > 0 && this.#flying.size < batchesInFlight) {
      const members = takeBatch(this.#queue).filter((member) => this.#inTime(member));
      if (members.length === 0) continue;
      const flight = this.#send(members).finally(() => {
        this.#flying.delete(flight);
        this.#fly();
      });
      this.#flying.add(flight);
    }
  }

  /**
   * What has waited for all of its time is refused, and certainly not written: what is sent without
   * time left is.
   */
  #inTime({ until, reject }: BatchMember): boolean {
    if (Date.now() < until) return true;
    reject(new UnavailableError('etcd did not take it in time'));
    return false;
  }

  async #send(members: readonly BatchMember[]): Promise<void> {
    const { cluster, keyspace } = this.#parts;
    const until = Math.min(...members.map((member) => member.until));
    const waiting = this.#arrivals;
    this.#parts.metrics?.commitBatchSize.observe(members.length);
    try {
      const request = nest(keyspace, members);
      let asked = 0;
      const answer = await cluster.insist(
        'txn',
        (member, options) => {
          asked = performance.now();
          return member.kv.txn(request, options);
        },
        ({ kind }) => kind === 'unsent',
        until,
      );
      cluster.saw(Number(answer.header.revision), asked);
      const results = unnest(keyspace, members, answer);
      results.forEach((result, i) => {
        members[i]!.resolve(result);
      });
      this.#drop(waiting, writtenBy(members, results), keyspace.outward(answer.header.revision));
    } catch (error) {
      await this.#judge(members, error);
    }
  }

  /**
   * Answers those of the queue that came before a batch was sent and have certainly lost against
   * it.
   */
  #drop(waiting: number, written: Written, revision: Revision): void {
    if (this.#queue.length === 0 || written.size === 0) return;
    const rest = this.#queue.filter((member) => {
      const lost =
        member.arrival <= waiting ? detectConflict(member, written, revision) : undefined;
      if (lost) member.resolve(lost);
      return !lost;
    });
    this.#queue.splice(0, this.#queue.length, ...rest);
  }

  /**
   * After a failure: unknown is settled for each; a refusal is repeated for each alone, so that
   * only the bad one fails.
   */
  async #judge(members: readonly BatchMember[], error: unknown): Promise<void> {
    if (!(error instanceof EtcdError)) for (const member of members) member.reject(error);
    else if (error.kind === 'unknown' || error.kind === 'oversize')
      await Promise.all(members.map((member) => this.#settle(member, error)));
    else if (error.kind === 'lease') await this.#renew(members);
    else if (error.kind === 'unsent' || members.length === 1)
      for (const member of members) member.reject(unavailable(error));
    else for (const member of members) await this.#send([member]);
  }

  /** A lease was gone: every member is repeated alone, once, with new leases. */
  async #renew(members: readonly BatchMember[]): Promise<void> {
    this.#parts.leases.forget();
    for (const member of members) {
      try {
        await this.#send([
          {
            ...member,
            leases: await this.#leases(member.writes),
            until: Math.max(member.until, Date.now() + settleTime),
          },
        ]);
      } catch (error) {
        member.reject(error);
      }
    }
  }

  /**
   * Reads back whether the commit was made: a value that carries its nonce proves it, everything
   * else proves nothing.
   */
  async #settle(member: BatchMember, failure: EtcdError): Promise<void> {
    const keys = member.writes.flatMap((write) => ('put' in write ? [write.put] : []));
    if (member.writes.length === 0)
      return member.reject(new UnavailableError('etcd did not answer', { cause: failure }));
    try {
      const { kvs } =
        keys.length > 0
          ? await this.#parts.reads.stored(keys, Math.max(member.until, Date.now() + settleTime))
          : { kvs: [] };
      const found = kvs.find((kv) => kv && carries(kv.value, member.nonce));
      if (found)
        member.resolve({
          committed: true,
          revision: this.#parts.keyspace.outward(found.mod_revision),
        });
      else member.reject(unknown(failure));
    } catch {
      member.reject(unknown(failure));
    }
  }
}
