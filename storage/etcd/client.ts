import { setTimeout as pause } from 'node:timers/promises';
import type { ChannelOptions } from '@grpc/grpc-js';
import { noop } from 'cockatiel';
import etcd3, { type Etcd3, type IOptions } from 'etcd3';
import { type StorageMetrics, UnavailableError } from '../storage.js';
import { type EtcdError, etcdErrorOf, isTransient, toUnavailableError } from './errors.js';
import { serverAddress } from './server-urls.js';
import { signIn } from './sign-in.js';

/** How to connect to etcd. */
export interface ClusterOptions extends Credentials {
  /** Addresses with scheme, `http://` or `https://`. */
  readonly servers: readonly string[];
  readonly metrics?: StorageMetrics;
  /** The longest a caller waits, in milliseconds; 2500 by default. */
  readonly requestTimeoutMs?: number | undefined;
}

/** In PEM: the CA of the servers' certificates, and this client's certificate and key. */
export interface Credentials {
  readonly ca?: Buffer | undefined;
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  /** The user of etcd; without one, etcd takes the common name of the certificate. */
  readonly user?: { readonly name: string; readonly password: string } | undefined;
}

/**
 * Options of every channel: bounded waiting, reconnection within a second, and a message limit far
 * above the size of a page.
 */
const channelOptions = {
  'grpc.max_receive_message_length': 64 << 20,
  'grpc.max_send_message_length': 16 << 20,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
} as const;

/** How long etcd may take to verify a password, in milliseconds. */
const signInTimeoutMs = 1500;

/** Returns the options of channels to a server; with a user, each call is signed in. */
export const channelOptionsOf = (
  server: string,
  { user, ...credentials }: Credentials,
): ChannelOptions =>
  user
    ? { ...channelOptions, interceptors: [signIn(() => authenticate(server, credentials, user))] }
    : channelOptions;

async function authenticate(
  server: string,
  credentials: Credentials,
  user: NonNullable<Credentials['user']>,
): Promise<string> {
  const member = createMember(server, credentials);
  try {
    const deadline = Date.now() + signInTimeoutMs;
    return (await member.auth.authenticate(user, { deadline })).token;
  } finally {
    member.close();
  }
}

/** The part of a caller's time after which a call is given up, to try another member. */
const callTimeoutRatio = 0.6;
const retryDelayMs = 50;

/** The operation of a call, as metrics label it. */
export type EtcdOperation = 'txn' | 'range' | 'compact' | 'leaseGrant' | 'status';

type Send<T> = (member: Etcd3, options: { deadline: number }) => Promise<T>;

/** The members of an etcd cluster. One is used until it fails, then the next. */
export class Cluster {
  closed = false;
  /**
   * Listeners for the revision in every linearizable response: when the request was sent at
   * `requestedAt` (performance.now()), etcd was at most at this revision (etcd's own).
   */
  readonly revisionListeners = new Set<(revision: number, requestedAt: number) => void>();
  /** The longest a caller waits, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** Why etcd refused this client when it last answered; undefined if it did not. */
  refusal: string | undefined;
  #members: readonly Etcd3[];
  readonly #servers: readonly string[];
  readonly #metrics: StorageMetrics | undefined;
  #current = 0;

  constructor(options: ClusterOptions) {
    this.#metrics = options.metrics;
    this.requestTimeoutMs = options.requestTimeoutMs ?? 2500;
    this.#servers = options.servers;
    this.#members = createMembers(options.servers, options);
  }

  /** Calls once, before `deadline` (milliseconds since the epoch); throws an EtcdError. */
  async call<T>(operation: EtcdOperation, send: Send<T>, deadline: number): Promise<T> {
    if (this.closed) throw new UnavailableError('the store is closed');
    const memberIndex = this.#current;
    const startedAt = performance.now();
    try {
      const response = await send(this.#members[memberIndex]!, {
        deadline: Math.min(deadline, Date.now() + this.#callTimeoutMs),
      });
      this.#count(operation, startedAt, 0);
      this.refusal = undefined;
      return response;
    } catch (error) {
      this.#count(operation, startedAt, 1);
      const etcdError = etcdErrorOf(error);
      etcdError.refusal ??= this.refusal;
      this.refusal = etcdError.refusal;
      if (isTransient(etcdError) && memberIndex === this.#current) {
        this.#current = (memberIndex + 1) % this.#members.length;
      }
      throw etcdError;
    }
  }

  get #callTimeoutMs(): number {
    return this.requestTimeoutMs * callTimeoutRatio;
  }

  #count(operation: EtcdOperation, startedAt: number, errors: 0 | 1): void {
    this.#metrics?.etcdRequestDuration.observe(
      { operation },
      (performance.now() - startedAt) / 1000,
    );
    this.#metrics?.etcdRequestErrors.inc({ operation }, errors);
  }

  /** Like `call`, but retries while `shouldRetry` returns true and time is left. */
  async callWithRetry<T>(
    operation: EtcdOperation,
    send: Send<T>,
    shouldRetry: (etcdError: EtcdError) => boolean,
    deadline = Date.now() + this.requestTimeoutMs,
  ): Promise<T> {
    for (;;) {
      try {
        return await this.call(operation, send, deadline);
      } catch (error) {
        if (this.closed || error instanceof UnavailableError) throw error;
        if (!shouldRetry(error as EtcdError) || Date.now() + retryDelayMs >= deadline) throw error;
        await pause(retryDelayMs);
      }
    }
  }

  /** Reads with retries. Throws UnavailableError, or an EtcdError if etcd responded with one. */
  async read<T extends { header: { revision: string } }>(
    operation: EtcdOperation,
    send: Send<T>,
    deadline = Date.now() + this.requestTimeoutMs,
  ): Promise<T> {
    let requestedAt = 0;
    try {
      const response = await this.callWithRetry(
        operation,
        (member, options) => {
          requestedAt = performance.now();
          return send(member, options);
        },
        isTransient,
        deadline,
      );
      this.notifyRevision(Number(response.header.revision), requestedAt);
      return response;
    } catch (error) {
      throw error instanceof Error && error.name === 'EtcdError' && isTransient(error as EtcdError)
        ? toUnavailableError(error as EtcdError)
        : error;
    }
  }

  /** Notifies the listeners of the revision in a linearizable response. */
  notifyRevision(revision: number, requestedAt: number): void {
    for (const listener of this.revisionListeners) listener(revision, requestedAt);
  }

  /** Reconnects with other credentials. Calls in flight finish on the previous connections. */
  renew(credentials: Credentials): void {
    const previous = this.#members;
    this.#members = createMembers(this.#servers, credentials);
    setTimeout(() => {
      for (const member of previous) member.close();
    }, 2 * this.#callTimeoutMs).unref();
  }

  /** Closes every connection. */
  close(): void {
    this.closed = true;
    for (const member of this.#members) member.close();
  }
}

const createMembers = (servers: readonly string[], credentials: Credentials): Etcd3[] =>
  servers.map((server) => createMember(server, credentials));

const createMember = (server: string, credentials: Credentials): Etcd3 =>
  new etcd3.Etcd3(clientOptions(server, credentials));

function clientOptions(server: string, given: Credentials): IOptions {
  const { ca, cert, key } = given;
  // Without a CA, gRPC verifies servers with the machine's trusted CAs; the client's types do not
  // allow that.
  const credentials = (ca ?? cert) && {
    rootCertificate: ca as Buffer,
    ...(key && { privateKey: key }),
    ...(cert && { certChain: cert }),
  };
  return {
    hosts: serverAddress(server),
    ...(credentials && { credentials }),
    grpcOptions: channelOptionsOf(server, given),
    faultHandling: { global: noop, host: () => noop },
  };
}
