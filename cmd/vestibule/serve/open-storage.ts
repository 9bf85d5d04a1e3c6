import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../../../observability/log.js';
import type { Metrics } from '../../../observability/metrics/metrics.js';
import type { DisposableStack } from '../../../security/disposable-stack.js';
import type { EtcdOptions, EtcdStorage } from '../../../storage/etcd/etcd.js';
import type { Storage } from '../../../storage/storage.js';
import { type Config, ConfigError } from '../options/config.js';
import { ExposedFile, readSecretFile } from '../options/secret-file.js';
import { reloadFiles } from './watch-files.js';

type EtcdConfig = Extract<Config['store'], { type: 'etcd' }>;
type EtcdConnection = Pick<EtcdOptions, 'servers' | 'prefix' | 'ca' | 'cert' | 'key' | 'user'>;

/** Returns the folder of the embedded store inside the data folder. */
export const embeddedFolder = (dataFolder: string): string => join(dataFolder, 'store');

/** Returns the connection options of etcd; reads its certificates. */
export function etcdOptions({
  servers,
  prefix,
  caFile,
  certFile,
  keyFile,
  username: name,
  password,
}: EtcdConfig): EtcdConnection {
  const pem = (name: 'ca' | 'cert', file: string | undefined) =>
    file !== undefined && { [name]: readFileSync(file) };
  return {
    servers,
    prefix,
    ...pem('ca', caFile),
    ...pem('cert', certFile),
    ...(keyFile !== undefined && { key: Buffer.from(readSecret('etcd-keyfile', keyFile)) }),
    ...(name !== undefined && password !== undefined && { user: { name, password } }),
  };
}

/** Reads a secret of etcd. Throws a ConfigError if anyone on this machine may read its file. */
function readSecret(flag: string, file: string): string {
  try {
    return readSecretFile(file);
  } catch (error) {
    throw error instanceof ExposedFile ? new ConfigError([`--${flag}: ${error.message}`]) : error;
  }
}

/** Returns the connection options with the password that its file has now. */
const currentOptions = (config: EtcdConfig): EtcdConnection =>
  etcdOptions({
    ...config,
    ...(config.passwordFile !== undefined && {
      password: readSecret('etcd-password', config.passwordFile).trim(),
    }),
  });

/**
 * Reconnects to etcd when its certificates or the password change, and calls `onRenew`. While the
 * files are invalid, the former ones stay in use
 * (docs/design/storage.md#certificates-and-passwords-for-etcd). Returns a function that stops it.
 */
export function followCredentials(
  config: EtcdConfig,
  storage: EtcdStorage,
  onRenew: (connection: EtcdConnection) => void,
  log: Log,
): () => void {
  let current = etcdOptions(config);
  const { caFile, certFile, keyFile, passwordFile } = config;
  const files = [caFile, certFile, keyFile, passwordFile].filter((file) => file !== undefined);
  const messages = {
    reloaded: 'reloaded the certificates or the password for etcd; reconnecting',
    failed: 'could not reload the certificates or the password for etcd; the former stay in use',
  };
  const reload = (): boolean => {
    const next = currentOptions(config);
    if (isDeepStrictEqual(next, current)) return false;
    const [, certificate] = [next.ca, next.cert].map((pem) => pem && new X509Certificate(pem));
    if (certificate && next.key && !certificate.checkPrivateKey(createPrivateKey(next.key))) {
      throw new Error('the private key does not match the certificate');
    }
    current = next;
    storage.renew(next);
    onRenew(next);
    return true;
  };
  return reloadFiles(files, messages, reload, log);
}

/**
 * Opens the store of the settings, and watches etcd's certificates until the stop. The caller
 * closes the store.
 */
export async function openStorage(
  { store }: Pick<Config, 'store'>,
  log: Log,
  disposables: DisposableStack,
  metrics?: Metrics,
): Promise<Storage> {
  const instrumentation = metrics && { metrics };
  if (store.type === 'embedded') {
    const { openEmbedded } = await import('../../../storage/embedded/embedded.js');
    return openEmbedded({ directory: embeddedFolder(store.directory), ...instrumentation });
  }
  const { openEtcd } = await import('../../../storage/etcd/etcd.js');
  const options = etcdOptions(store);
  const exportCertificates = ({ ca, cert }: EtcdConnection): void => {
    if (ca) metrics?.certificates.set('etcd-ca', () => ca);
    if (cert) metrics?.certificates.set('etcd-client', () => cert);
  };
  exportCertificates(options);
  const storage = await openEtcd({
    ...options,
    onWarning: (message) => log.warn(message),
    ...instrumentation,
  });
  disposables.add(followCredentials(store, storage, exportCertificates, log));
  return storage;
}
