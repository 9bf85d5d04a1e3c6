import {
  credentials,
  loadPackageDefinition,
  Metadata,
  type ChannelCredentials,
  type Client,
  type ClientDuplexStream,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { IKeyValue } from 'etcd3';
import { createRequire } from 'node:module';
import { channelOptions, type Credentials } from './client.js';

/** A change as etcd tells it. */
export interface EtcdWatchEvent {
  readonly type: 'Put' | 'Delete';
  readonly kv: IKeyValue;
  readonly prev_kv: IKeyValue | null;
}

/** One message of a watch stream. */
export interface WatchResponse {
  readonly header: { readonly revision: string };
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compact_revision: string;
  readonly cancel_reason: string;
  readonly fragment: boolean;
  readonly events: readonly EtcdWatchEvent[];
}

/** What is asked on a watch stream. */
type WatchRequest =
  | {
      create_request: {
        key: Buffer;
        range_end: Buffer;
        start_revision: number;
        prev_kv: boolean;
        fragment: boolean;
      };
    }
  | { progress_request: Record<string, never> };

/** A watch stream as grpc gives it. */
export type EtcdWatchStream = ClientDuplexStream<WatchRequest, WatchResponse>;

interface WatchClient extends Client {
  watch(metadata: Metadata): EtcdWatchStream;
}

type Service = new (
  address: string,
  credentials: ChannelCredentials,
  options: object,
) => WatchClient;

/** Opens watch streams, on channels of their own; every member gets its turn. */
export class Streams {
  #clients: readonly WatchClient[];
  readonly #servers: readonly string[];
  #turn = 0;

  constructor(servers: readonly string[], by: Credentials) {
    this.#servers = servers;
    this.#clients = clientsOf(servers, by);
  }

  /** By address, whom any call may be made through. */
  get clients(): readonly Client[] {
    return this.#clients;
  }

  /** The next streams are opened with other credentials; those that are open go on. */
  renew(by: Credentials): void {
    this.close();
    this.#clients = clientsOf(this.#servers, by);
  }

  /** A stream that ends when its member loses the leader. */
  open(): EtcdWatchStream {
    const metadata = new Metadata();
    metadata.set('hasleader', 'true');
    return this.#clients[this.#turn % this.#clients.length]!.watch(metadata);
  }

  /** The next stream goes to the next member. */
  rotate(): void {
    this.#turn++;
  }

  /** Ends every channel. */
  close(): void {
    for (const client of this.#clients) client.close();
  }
}

function clientsOf(servers: readonly string[], by: Credentials): WatchClient[] {
  const service = watchService();
  return servers.map(
    (server) =>
      new service(server.replace(/^https?:\/\//, ''), credentialsOf(server, by), channelOptions),
  );
}

function watchService(): Service {
  const path = createRequire(import.meta.url).resolve('etcd3/proto/rpc.proto');
  const definition = loadPackageDefinition(
    loadSync(path, { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true }),
  );
  return (definition['etcdserverpb'] as unknown as { Watch: Service }).Watch;
}

function credentialsOf(server: string, { ca, cert, key }: Credentials): ChannelCredentials {
  return server.startsWith('https:')
    ? credentials.createSsl(ca, key, cert)
    : credentials.createInsecure();
}
