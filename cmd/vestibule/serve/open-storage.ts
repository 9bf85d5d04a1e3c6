import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, type Config } from '../options/config.js';
import { followFiles } from './watch-files.js';
import type { DisposableStack } from './disposables.js';
import type { Log } from '../../../observability/log.js';
import type { Metrics } from '../../../observability/metrics/metrics.js';
import { ExposedFile, readSecretFile } from '../options/secret-file.js';
import type { EtcdOptions, EtcdStorage } from '../../../storage/etcd/etcd.js';
import type { Storage } from '../../../storage/storage.js';

type Place = Extract<Config['store'], { type: 'etcd' }>;
type Reached = Pick<EtcdOptions, 'servers' | 'prefix' | 'ca' | 'cert' | 'key'>;

/** Where the embedded store lies within the data folder. */
export const embeddedFolder = (dataFolder: string): string => join(dataFolder, 'store');

/** What etcd is reached with; reads its certificates. */
export function etcdOptions({ servers, prefix, caFile, certFile, keyFile }: Place): Reached {
  const pem = (name: 'ca' | 'cert', file: string | undefined) =>
    file !== undefined && { [name]: readFileSync(file) };
  return {
    servers,
    prefix,
    ...pem('ca', caFile),
    ...pem('cert', certFile),
    ...(keyFile !== undefined && { key: readKeyFile(keyFile) }),
  };
}

/**
 * The private key of etcd's client; throws a ConfigError where anyone on this machine may read it.
 */
function readKeyFile(file: string): Buffer {
  try {
    return Buffer.from(readSecretFile(file));
  } catch (error) {
    throw error instanceof ExposedFile
      ? new ConfigError([`--etcd-keyfile: ${error.message}`])
      : error;
  }
}

/**
 * Has a store connect again whenever its certificates change, and tells of it; while they are wrong,
 * the former stay (docs/design/storage.md#certificates-for-etcd). Gives back how to stop.
 */
export function followCertificates(
  place: Place,
  storage: EtcdStorage,
  renewed: (by: Reached) => void,
  log: Log,
): () => void {
  let now = etcdOptions(place);
  const files = [place.caFile, place.certFile, place.keyFile].filter((file) => file !== undefined);
  return followFiles(
    files,
    () => {
      try {
        const next = etcdOptions(place);
        if ((['ca', 'cert', 'key'] as const).every((one) => String(next[one]) === String(now[one])))
          return;
        const [, own] = [next.ca, next.cert].map((pem) => pem && new X509Certificate(pem));
        if (own && next.key && !own.checkPrivateKey(createPrivateKey(next.key)))
          throw new Error('the key is not that of the certificate');
        now = next;
        storage.renew(next);
        renewed(next);
        log.info({ files }, 'the certificates for etcd have changed: connecting again');
      } catch (error) {
        log.error(
          { err: error, files },
          'the certificates for etcd have changed and cannot be used; the former stay',
        );
      }
    },
    log,
  );
}

/**
 * Opens the store that the settings name; certificates for etcd are followed until the stop. Who
 * asks for it closes it.
 */
export async function openStorage(
  { store }: Config,
  log: Log,
  held: DisposableStack,
  metrics?: Metrics,
): Promise<Storage> {
  const counted = metrics && { metrics };
  if (store.type === 'embedded') {
    const { openEmbedded } = await import('../../../storage/embedded/embedded.js');
    return openEmbedded({ directory: embeddedFolder(store.directory), ...counted });
  }
  const { openEtcd } = await import('../../../storage/etcd/etcd.js');
  const options = etcdOptions(store);
  const noteCertificates = ({ ca, cert }: Reached): void => {
    if (ca) metrics?.certificates.set('etcd-ca', () => ca);
    if (cert) metrics?.certificates.set('etcd-client', () => cert);
  };
  noteCertificates(options);
  const storage = await openEtcd({
    ...options,
    onWarning: (message) => log.warn(message),
    ...counted,
  });
  held.add(followCertificates(store, storage, noteCertificates, log));
  return storage;
}
