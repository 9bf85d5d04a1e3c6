import { randomUUID } from 'node:crypto';
import type { Log } from '../../../../observability/log.js';
import { jsonValue } from '../../../../registry/schema/json-value.js';
import type { ReplicaVersions } from '../../../../registry/store/stored-versions.js';
import type { KeyIDs } from '../../../../security/keyring.js';
import { prefixRange, type Storage } from '../../../../storage/storage.js';
import { followValues } from '../follow-values.js';

/** The prefix below which each running replica writes its time and the ids of its keys. */
export const clocksPrefix = 'meta/clocks/';
/** The number of recent leads of a peer. */
const sampleCount = 4;
const timesMs = { interval: 5_000, peerTtl: 30_000, maxSkew: 5_000 };

/**
 * Recent times of another replica: this clock's lead over each in milliseconds, and when the last
 * arrived by the monotonic clock.
 */
interface Peer {
  leadsMs: number[];
  lastSeenAt: number;
}

/** Overrides for tests. */
interface ClockSkewOptions {
  readonly intervalMs?: number;
  readonly now?: () => number;
  /** Returns the ids of this replica's keys, which are written beside its time. */
  readonly keys?: () => KeyIDs;
  /** Returns the versions that this replica reads and writes, which are written as well. */
  readonly versions?: () => ReplicaVersions;
}

/**
 * Compares this clock with those of the other replicas: each writes its own time to the store, and
 * the others read it (docs/design/storage.md#clocks-of-replicas).
 */
export class ClockSkew {
  readonly #storage: Storage;
  readonly #log: Log;
  readonly #intervalMs: number;
  readonly #now: () => number;
  readonly #facts: Pick<ClockSkewOptions, 'keys' | 'versions'>;
  readonly #key = `${clocksPrefix}${randomUUID()}`;
  readonly #peers = new Map<string, Peer>();
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #watching: Promise<unknown> = Promise.resolve();
  #pendingWrite: Promise<unknown> = Promise.resolve();

  constructor(
    storage: Storage,
    log: Log,
    { intervalMs = timesMs.interval, now = Date.now, ...facts }: ClockSkewOptions = {},
  ) {
    this.#storage = storage;
    this.#log = log;
    this.#intervalMs = intervalMs;
    this.#now = now;
    this.#facts = facts;
  }

  start(): void {
    this.#watching = followValues(
      { storage: this.#storage, prefix: clocksPrefix, signal: this.#stop.signal, log: this.#log },
      async () => (await this.#storage.list(prefixRange(clocksPrefix), { limit: 1 })).revision,
      (key, value) => this.#recordPeer(key, value),
    );
    this.#timer = setInterval(() => this.#writeTime(), this.#intervalMs);
    this.#timer.unref();
    this.#writeTime();
  }

  /** Resolves when the last write has reached the store or failed. */
  async written(): Promise<void> {
    await this.#pendingWrite;
  }

  /** Stops, and deletes this replica's record. */
  async stop(): Promise<void> {
    this.#stop.abort();
    clearInterval(this.#timer);
    await this.#pendingWrite;
    await this.#storage.commit([], [{ delete: this.#key }]).catch(() => {
      /* The record expires. */
    });
    await this.#watching;
  }

  /**
   * Seconds by which this clock is ahead of the others' (negative: behind): the median of the live
   * peers, of two in the middle the one nearer to 0; 0 without peers.
   */
  get skew(): number {
    const now = performance.now();
    for (const [key, { lastSeenAt }] of this.#peers) {
      if (now - lastSeenAt > timesMs.peerTtl) this.#peers.delete(key);
    }
    const leads = [...this.#peers.values()]
      .map((peer) => Math.min(...peer.leadsMs))
      .sort((a, b) => Math.abs(a) - Math.abs(b));
    return leads.length === 0 ? 0 : leads[(leads.length - 1) >> 1]! / 1000;
  }

  /** The number of live peers. */
  get peers(): number {
    return this.#peers.size;
  }

  /** Throws if this clock is more than five seconds apart from those of most peers. */
  check(): void {
    if (Math.abs(this.skew) * 1000 > timesMs.maxSkew) {
      throw new Error(`this clock is ${this.skew.toFixed(1)} s ahead of the other replicas`);
    }
  }

  #writeTime(): void {
    const time = this.#now();
    const { keys, versions } = this.#facts;
    const record = { time, keys: keys?.(), versions: versions?.() };
    this.#pendingWrite = this.#storage
      .commit(
        [],
        [
          {
            put: this.#key,
            value: Buffer.from(JSON.stringify(record)),
            expires: time + timesMs.peerTtl,
          },
        ],
      )
      .catch(() => {
        /* The next write, or readiness, reports it. */
      });
  }

  /**
   * Delay only makes a time look older, so the smallest of the last few leads is the best estimate.
   */
  #recordPeer(key: string, value: Buffer | undefined): void {
    if (key === this.#key) return;
    if (!value) return void this.#peers.delete(key);
    const { time } = jsonValue<{ time: number }>({ value });
    const peer = this.#peers.get(key) ?? { leadsMs: [], lastSeenAt: 0 };
    peer.leadsMs = [...peer.leadsMs, this.#now() - time].slice(-sampleCount);
    peer.lastSeenAt = performance.now();
    this.#peers.set(key, peer);
  }
}
