import { fromJSON, type ServiceDefinition } from '@grpc/proto-loader';
import { Metadata, type Client } from '@grpc/grpc-js';
import { UnavailableError, type Size } from '../storage.js';
import { EtcdError, unavailable } from './errors.js';
import type { Streams } from './watch-stream.js';

/** Milliseconds in which a member is to answer. */
const callTime = 1500;

/**
 * What a member says of its database (etcd's rpc.proto); 0 is what it does not say: the quota is
 * told from 3.6 on.
 */
interface Status {
  readonly dbSize: number;
  readonly dbSizeInUse: number;
  readonly dbSizeQuota: number;
}

/**
 * The part of etcd's maintenance API that tells sizes, with the field that is younger than the
 * description which etcd3 has.
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
 * How large the database of each member is that answers, called `etcd-` and its place among the
 * addresses, as kube-apiserver calls them; throws Unavailable where none answers.
 */
export async function sizesOf(streams: Streams): Promise<ReadonlyMap<string, Size>> {
  const answers = await Promise.allSettled(streams.clients.map(statusOf));
  const sizes = answers.flatMap((answer, i) =>
    answer.status === 'fulfilled' ? [[`etcd-${i}`, sizeOf(answer.value)] as const] : [],
  );
  if (sizes.length === 0)
    throw unavailable(new EtcdError('unknown', (answers[0] as PromiseRejectedResult).reason));
  return new Map(sizes);
}

const sizeOf = ({ dbSize, dbSizeInUse, dbSizeQuota }: Status): Size => ({
  bytes: dbSize,
  inUse: dbSizeInUse,
  ...(dbSizeQuota > 0 && { quota: dbSizeQuota }),
});

function statusOf(client: Client): Promise<Status> {
  const { path, requestSerialize, responseDeserialize } = service['Status']!;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      {},
      new Metadata(),
      { deadline: Date.now() + callTime },
      (error, answer) => {
        if (error || !answer)
          reject(error ?? new UnavailableError('etcd said nothing of its size'));
        else resolve(answer as unknown as Status);
      },
    );
  });
}
