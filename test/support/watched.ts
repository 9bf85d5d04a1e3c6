import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { readConfig } from '../../cmd/vestibule/options/config.js';
import { writeNewKeys } from '../../cmd/vestibule/serve/keys/keys-file.js';
import { type Service, startService } from '../../cmd/vestibule/serve/service.js';
import { createLog } from '../../observability/log.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { openEtcd } from '../../storage/etcd/etcd.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { type Scrape, scrape } from './network/scrape.js';
import { Tab } from './people/tab.js';
import { logsHoldNone, storeHoldsNone } from './secrets.js';
import { createClient, type TestService, temporary } from './service.js';

/**
 * A service that opens its store itself, as the command does, with a metrics port and an audit log.
 */
export interface Watched extends Service {
  readonly logs: string[];
  tab(): Tab;
  scrape(): Promise<Scrape>;
  /** Every audit event so far. */
  audited(): any[];
}

let etcd: EtcdServer | undefined;
const started: { stop(): Promise<void> }[] = [];

/** Starts one with a Client `app`; `endWatched` ends all. */
export async function startWatched(
  store: 'embedded' | 'etcd',
  flags: readonly string[] = [],
): Promise<Watched> {
  const folder = temporary();
  const keys = join(folder, 'keys.json');
  const audit = join(folder, 'audit.log');
  if (store === 'etcd') await etcdBehind();
  writeNewKeys(keys);
  const prefix = `/t${Math.random().toString(36).slice(2)}/`;
  const where =
    store === 'etcd'
      ? ['--etcd-servers', etcd!.endpoint, '--etcd-prefix', prefix]
      : ['--data-dir', folder];
  const logs: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logs.push(String(chunk));
      done();
    },
  });
  const config = readConfig(
    [
      '--port',
      '0',
      '--metrics-port',
      '0',
      '--audit-log-path',
      audit,
      '--mock-mail',
      '--allow-mock-mail',
      '--keys-file',
      keys,
      '--limit-factor',
      '1000',
      ...where,
      ...flags,
    ],
    {},
  );
  const service = await startService(
    config,
    createLog('debug', sink),
    join(import.meta.dirname, '../..'),
  );
  started.push({
    async stop() {
      await service.stop();
      logsHoldNone(logs.join(''));
      const storage = await (store === 'etcd'
        ? openEtcd({ servers: [etcd!.endpoint], prefix })
        : openEmbedded({ directory: join(folder, 'store') }));
      await storeHoldsNone(storage).finally(() => storage.close());
    },
  });
  await createClient(service as TestService, 'app');
  return {
    ...service,
    logs,
    tab: () => new Tab(service.url, service.baseURL),
    scrape: () => scrape(service.metricsURL!),
    audited: () =>
      readFileSync(audit, 'utf8')
        .trimEnd()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
  };
}

/** The etcd behind those on etcd. */
export const etcdBehind = async (): Promise<EtcdServer> => (etcd ??= await startEtcd());

/** Ends every one of them, newest first, and the etcd behind them. */
export async function endWatched(): Promise<void> {
  for (const service of started.splice(0).reverse()) await service.stop();
  await etcd?.stop();
  etcd = undefined;
}
