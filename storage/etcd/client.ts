import { noop } from 'cockatiel';
import etcd3, { type Etcd3, type IOptions } from 'etcd3';
import { setTimeout as pause } from 'node:timers/promises';
import { UnavailableError, type StorageMetrics } from '../storage.js';
import { etcdErrorOf, isTransient, unavailable, type EtcdError } from './errors.js';

/** Where etcd is and how it is spoken to. */
export interface ClusterOptions extends Credentials {
  /** Addresses with scheme, `http://` or `https://`. */
  readonly servers: readonly string[];
  readonly metrics?: StorageMetrics;
}

/** PEM: what the servers' certificates are judged by, and this client's own. */
export interface Credentials {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/**
 * Options of every channel: bounded waiting, reconnection within a second, and pages far below the
 * largest message.
 */
export const channelOptions = {
  'grpc.max_receive_message_length': 64 << 20,
  'grpc.max_send_message_length': 16 << 20,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
} as const;

/** Milliseconds a caller waits at most, and milliseconds for one call. */
export const requestTimeoutMs = 2500;
const callTime = 1500;
const pauseTime = 50;

/** What a call asks of etcd, as it is counted. */
export type EtcdOperation = 'txn' | 'range' | 'compact' | 'leaseGrant' | 'status';

type Send<T> = (member: Etcd3, options: { deadline: number }) => Promise<T>;

/** The members of an etcd cluster: one is used until it fails, then the next. */
export class Cluster {
  closed = false;
  /**
   * Told of every answer of a quorum: etcd was no further than this revision (as it counts) when
   * that was asked (performance.now()).
   */
  readonly onAnswer = new Set<(revision: number, asked: number) => void>();
  #members: readonly Etcd3[];
  readonly #servers: readonly string[];
  readonly #metrics: StorageMetrics | undefined;
  #current = 0;

  constructor(options: ClusterOptions) {
    this.#metrics = options.metrics;
    this.#servers = options.servers;
    this.#members = membersOf(options.servers, options);
  }

  /** One attempt within `until` (milliseconds since the epoch); throws a Failure. */
  async call<T>(operation: EtcdOperation, send: Send<T>, until: number): Promise<T> {
    if (this.closed) throw new UnavailableError('the store is closed');
    const chosen = this.#current;
    const begun = performance.now();
    try {
      const answer = await send(this.#members[chosen]!, {
        deadline: Math.min(until, Date.now() + callTime),
      });
      this.#count(operation, begun, 0);
      return answer;
    } catch (error) {
      this.#count(operation, begun, 1);
      const failure = etcdErrorOf(error);
      if (isTransient(failure) && chosen === this.#current)
        this.#current = (chosen + 1) % this.#members.length;
      throw failure;
    }
  }

  #count(operation: EtcdOperation, begun: number, errors: 0 | 1): void {
    this.#metrics?.etcdRequestDuration.observe({ operation }, (performance.now() - begun) / 1000);
    this.#metrics?.etcdRequestErrors.inc({ operation }, errors);
  }

  /** As call, but tries again while `again` agrees and time is left. */
  async insist<T>(
    operation: EtcdOperation,
    send: Send<T>,
    again: (failure: EtcdError) => boolean,
    until = Date.now() + requestTimeoutMs,
  ): Promise<T> {
    for (;;) {
      try {
        return await this.call(operation, send, until);
      } catch (error) {
        if (this.closed || error instanceof UnavailableError) throw error;
        if (!again(error as EtcdError) || Date.now() + pauseTime >= until) throw error;
        await pause(pauseTime);
      }
    }
  }

  /**
   * A read, tried until it is answered or patience ends; throws Unavailable, or a Failure that is
   * an answer.
   */
  async read<T extends { header: { revision: string } }>(
    operation: EtcdOperation,
    send: Send<T>,
    until = Date.now() + requestTimeoutMs,
  ): Promise<T> {
    let asked = 0;
    try {
      const answer = await this.insist(
        operation,
        (member, options) => {
          asked = performance.now();
          return send(member, options);
        },
        isTransient,
        until,
      );
      this.saw(Number(answer.header.revision), asked);
      return answer;
    } catch (error) {
      throw error instanceof Error && error.name === 'EtcdError' && isTransient(error as EtcdError)
        ? unavailable(error as EtcdError)
        : error;
    }
  }

  /** Tells how far etcd had come, by a quorum, when that was asked. */
  saw(revision: number, asked: number): void {
    for (const listener of this.onAnswer) listener(revision, asked);
  }

  /** Connects again, with other credentials; what is under way ends by the former connections. */
  renew(credentials: Credentials): void {
    const former = this.#members;
    this.#members = membersOf(this.#servers, credentials);
    setTimeout(() => {
      for (const member of former) member.close();
    }, 2 * callTime).unref();
  }

  /** Ends every connection. */
  close(): void {
    this.closed = true;
    for (const member of this.#members) member.close();
  }
}

const membersOf = (servers: readonly string[], by: Credentials): Etcd3[] =>
  servers.map((server) => new etcd3.Etcd3(clientOptions(server, by)));

function clientOptions(server: string, { ca, cert, key }: Credentials): IOptions {
  // Without an authority gRPC judges servers by those that this machine trusts; the types of the
  // client know no such thing.
  const credentials = (ca ?? cert) && {
    rootCertificate: ca as Buffer,
    ...(key && { privateKey: key }),
    ...(cert && { certChain: cert }),
  };
  return {
    hosts: server,
    ...(credentials && { credentials }),
    grpcOptions: channelOptions,
    faultHandling: { global: noop, host: () => noop },
  };
}
