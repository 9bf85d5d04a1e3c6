import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.js';
import type { EtcdOptions } from './storage/etcd/etcd.js';

/** Where the embedded store lies within the data folder. */
export const embeddedFolder = (dataFolder: string): string => join(dataFolder, 'store');

/** What etcd is reached with; reads its certificates. */
export function etcdOptions({ servers, prefix, caFile, certFile, keyFile }: Extract<Config['store'], { type: 'etcd' }>): Pick<EtcdOptions, 'servers' | 'prefix' | 'ca' | 'cert' | 'key'> {
  const pem = (name: 'ca' | 'cert' | 'key', file: string | undefined) => file !== undefined && { [name]: readFileSync(file) };
  return { servers, prefix, ...pem('ca', caFile), ...pem('cert', certFile), ...pem('key', keyFile) };
}
