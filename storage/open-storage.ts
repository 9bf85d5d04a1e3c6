import type { EtcdOptions } from './etcd/etcd.js';
import type { Storage } from './storage.js';

/** Where objects are stored: a directory that this process alone uses, or a prefix of etcd. */
export type StorageOptions = { readonly directory: string } | EtcdOptions;

/**
 * Opens the embedded store in a directory, or a store in etcd, which several servers may share.
 * Throws if another process uses the directory, or if no member of etcd responds in time.
 *
 * @example
 * ```ts
 * const embedded = await openStorage({ directory: 'data' });
 * const shared = await openStorage({ servers: ['http://127.0.0.1:2379'], prefix: '/wardle/' });
 * ```
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  if ('directory' in options) {
    const { openEmbedded } = await import('./embedded/embedded.js');
    return openEmbedded(options);
  }
  const { openEtcd } = await import('./etcd/etcd.js');
  return openEtcd(options);
}
