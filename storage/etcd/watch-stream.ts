import { createRequire } from 'node:module';
import {
  type ChannelCredentials,
  type Client,
  type ClientDuplexStream,
  credentials,
  loadPackageDefinition,
  Metadata,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { IKeyValue } from 'etcd3';
import { type Credentials, channelOptionsOf } from './client.js';

/** A change in etcd's protocol. */
export interface EtcdWatchEvent {
  readonly type: 'Put' | 'Delete';
  readonly kv: IKeyValue;
  readonly prev_kv: IKeyValue | null;
}

/** A message of a watch stream. */
export interface WatchResponse {
  readonly header: { readonly revision: string };
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compact_revision: string;
  readonly cancel_reason: string;
  readonly fragment: boolean;
  readonly events: readonly EtcdWatchEvent[];
}

/** A request on a watch stream. */
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

/** A watch stream of gRPC. */
export type EtcdWatchStream = ClientDuplexStream<WatchRequest, WatchResponse>;

interface WatchClient extends Client {
  watch(metadata: Metadata): EtcdWatchStream;
}

type Service = new (
  address: string,
  credentials: ChannelCredentials,
  options: object,
) => WatchClient;

/** Opens watch streams on channels of their own, to one member after another. */
export class WatchStreams {
  #clients: readonly WatchClient[];
  readonly #servers: readonly string[];
  #memberIndex = 0;

  constructor(servers: readonly string[], clientCredentials: Credentials) {
    this.#servers = servers;
    this.#clients = createClients(servers, clientCredentials);
  }

  /** The clients by address; any call may use them. */
  get clients(): readonly Client[] {
    return this.#clients;
  }

  /** Opens further streams with other credentials; open streams continue. */
  renew(clientCredentials: Credentials): void {
    this.close();
    this.#clients = createClients(this.#servers, clientCredentials);
  }

  /** Opens a stream that ends when its member loses the leader. */
  open(): EtcdWatchStream {
    const metadata = new Metadata();
    metadata.set('hasleader', 'true');
    return this.#clients[this.#memberIndex % this.#clients.length]!.watch(metadata);
  }

  /** Uses the next member for the next stream. */
  rotate(): void {
    this.#memberIndex++;
  }

  /** Closes every channel. */
  close(): void {
    for (const client of this.#clients) client.close();
  }
}

function createClients(servers: readonly string[], clientCredentials: Credentials): WatchClient[] {
  const service = loadWatchService();
  return servers.map(
    (server) =>
      new service(
        server.replace(/^https?:\/\//, ''),
        channelCredentials(server, clientCredentials),
        channelOptionsOf(server, clientCredentials),
      ),
  );
}

function loadWatchService(): Service {
  const path = createRequire(import.meta.url).resolve('etcd3/proto/rpc.proto');
  const definition = loadPackageDefinition(
    loadSync(path, { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true }),
  );
  return (definition['etcdserverpb'] as unknown as { Watch: Service }).Watch;
}

function channelCredentials(server: string, { ca, cert, key }: Credentials): ChannelCredentials {
  return server.startsWith('https:')
    ? credentials.createSsl(ca, key, cert)
    : credentials.createInsecure();
}
