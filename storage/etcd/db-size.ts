import { type Client, Metadata } from '@grpc/grpc-js';
import { fromJSON, type ServiceDefinition } from '@grpc/proto-loader';
import { type Size, UnavailableError } from '../storage.js';
import { EtcdError, toUnavailableError } from './errors.js';
import type { WatchStreams } from './watch-stream.js';

/** The timeout of a member's response in milliseconds. */
const timeoutMs = 1500;

/**
 * The size of a member's database (etcd's rpc.proto); 0 means unknown. etcd reports the quota since
 * 3.6.
 */
interface Status {
  readonly dbSize: number;
  readonly dbSizeInUse: number;
  readonly dbSizeQuota: number;
}

/**
 * The part of etcd's maintenance API that reports sizes, with a field that etcd3's definition
 * lacks.
 */
const service = fromJSON(
  {
    nested: {
      etcdserverpb: {
        nested: {
          Maintenance: {
            methods: {
              Status: { requestType: 'StatusRequest', responseType: 'StatusResponse', comment: '' },
            },
          },
          StatusRequest: { fields: {} },
          StatusResponse: {
            fields: {
              dbSize: { type: 'int64', id: 3 },
              dbSizeInUse: { type: 'int64', id: 9 },
              dbSizeQuota: { type: 'int64', id: 12 },
            },
          },
        },
      },
    },
  },
  { longs: Number, defaults: true, keepCase: true },
)['etcdserverpb.Maintenance'] as ServiceDefinition;

/**
 * Returns the database size of each member that responds, named `etcd-<index of its address>` as in
 * kube-apiserver. Throws UnavailableError if none responds.
 */
export async function readSizes(streams: WatchStreams): Promise<ReadonlyMap<string, Size>> {
  const responses = await Promise.allSettled(streams.clients.map(readStatus));
  const sizes = responses.flatMap((response, i) =>
    response.status === 'fulfilled' ? [[`etcd-${i}`, toSize(response.value)] as const] : [],
  );
  if (sizes.length === 0) {
    throw toUnavailableError(
      new EtcdError('unknown', (responses[0] as PromiseRejectedResult).reason),
    );
  }
  return new Map(sizes);
}

const toSize = ({ dbSize, dbSizeInUse, dbSizeQuota }: Status): Size => ({
  bytes: dbSize,
  inUse: dbSizeInUse,
  ...(dbSizeQuota > 0 && { quota: dbSizeQuota }),
});

function readStatus(client: Client): Promise<Status> {
  const { path, requestSerialize, responseDeserialize } = service['Status']!;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      {},
      new Metadata(),
      { deadline: Date.now() + timeoutMs },
      (error, response) => {
        if (error || !response) {
          reject(error ?? new UnavailableError('etcd reported no database size'));
        } else {
          resolve(response as unknown as Status);
        }
      },
    );
  });
}
