import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { readConfig } from '../../cmd/vestibule/options/config.js';
import { type Service, startService } from '../../cmd/vestibule/serve/service.js';
import type { ClientSpec } from '../../kinds/apps/client/client.js';
import { Client } from '../../kinds/apps/client/client.js';
import { createLog } from '../../observability/log.js';
import { Keys } from '../../security/keyring.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import type { Storage } from '../../storage/storage.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { testKeys } from './keys.js';
import { scaled } from './patience.js';
import { memberOf } from './people/member.js';
import { Tab } from './people/tab.js';
import { repeated } from './repeats.js';
import { logsHoldNone, storeHoldsNone } from './secrets.js';
import { timed } from './timed.js';

/** What is served from a build: that of the checkout, or of a mutant (`hack/mutants`). */
const root = process.env.VESTIBULE_TEST_ROOT ?? join(import.meta.dirname, '../..');

/** One service under test, or several replicas of it on one store. */
export interface TestService extends Service {
  readonly keys: Keys;
  /** The storage as the test sees it. */
  readonly storage: Storage;
  /** Every line logged so far. */
  readonly logs: string[];
  /** A new browser. */
  tab(): Tab;
  /** Another replica on the same store and keys. */
  replica(): Promise<TestService>;
}

/** What may differ from a service on the embedded store with mock mail. */
export interface TestOptions {
  /** Flags of `vestibule serve`. */
  readonly flags?: readonly string[];
  readonly store?: 'embedded' | 'etcd';
  /** Whether series of decisions are written at once, not every five seconds. */
  readonly quickDecisions?: boolean;
  readonly keys?: Keys;
  /** An open storage; it is closed with the service. */
  readonly storage?: Storage;
  /** Folder of the embedded store, to open again after a stop. */
  readonly directory?: string;
  readonly mail?: 'mock' | string;
  /** Variables of its environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Where the service account of its pod is. */
  readonly serviceAccount?: string;
}

let etcd: EtcdServer | undefined;
const started: { stop(): Promise<void> }[] = [];
const folders: string[] = [];
/** The keys that the store in a folder was made with: it is served with no others. */
const keysOf = new Map<string, Keys>();

/** A service on a free port; `stopAll` ends it. */
export async function startTest(options: TestOptions = {}): Promise<TestService> {
  const directory = options.directory ?? temporary();
  const keys = options.keys ?? keysOf.get(directory) ?? new Keys(testKeys());
  keysOf.set(directory, keys);
  const prefix = `/t${Math.random().toString(36).slice(2)}/`;
  if (options.store === 'etcd') etcd ??= await startEtcd();
  const open = async (): Promise<Storage> => {
    if (options.store !== 'etcd') return openEmbedded({ directory: join(directory, 'store') });
    const { openEtcd } = await import('../../storage/etcd/etcd.js'); // loads much that others need not
    return openEtcd({ servers: [etcd!.endpoint], prefix, requestTimeoutMs: scaled(2500) });
  };
  return assemble(options, keys, directory, options.storage ?? (await open()), open);
}

async function assemble(
  options: TestOptions,
  keys: Keys,
  directory: string,
  storage: Storage,
  open: () => Promise<Storage>,
  base?: string,
): Promise<TestService> {
  const logs: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logs.push(String(chunk));
      done();
    },
  });
  const mail =
    options.mail && options.mail !== 'mock'
      ? ['--smtp-url', options.mail, '--email-from', 'sign-in@vestibule.test']
      : ['--mock-mail'];
  const flags = [
    '--port',
    '0',
    '--data-dir',
    directory,
    ...mail,
    ...(base ? ['--base-url', base] : []),
    ...(options.flags ?? []),
  ];
  const service = await timed('service', () =>
    startService(readConfig(flags, options.environment ?? {}), createLog('debug', sink), root, {
      storage,
      keys,
      warmsUp: false, // most suites need a part of it
      ...(options.quickDecisions && { decisionIntervalMs: 100 }),
      ...(options.serviceAccount !== undefined && { serviceAccount: options.serviceAccount }),
    }),
  );
  let ended: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    (ended ??= storeHoldsNone(storage)
      .finally(service.stop)
      .then(() => logsHoldNone(logs.join(''))));
  started.push({ stop });
  return {
    ...service,
    keys,
    storage,
    logs,
    stop,
    tab: () =>
      Object.assign(new Tab(service.url, service.baseURL), { patient: options.store === 'etcd' }),
    replica: async () =>
      assemble(
        options,
        keys,
        directory,
        options.store === 'etcd' ? await open() : shared(storage),
        open,
        service.baseURL,
      ),
  };
}

/** The same storage for a second replica in this process: only the first closes it. */
const shared = (storage: Storage): Storage =>
  new Proxy(storage, {
    get: (target, name) => (name === 'close' ? async () => {} : memberOf(target, name)),
  });

/**
 * Ends every service this file started, newest first, and the etcd behind them; fails where one of
 * them left a secret behind.
 */
export async function stopAll(): Promise<void> {
  const failures: unknown[] = [];
  for (const service of started.splice(0).reverse()) {
    await service.stop().catch((error: unknown) => {
      failures.push(error);
    });
  }
  await etcd?.stop();
  etcd = undefined;
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  if (failures.length > 0) throw failures[0];
}

/** A folder that goes with `stopAll`. */
export function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vestibule-test-'));
  folders.push(folder);
  return folder;
}

/** Creates a Client as an operator's manifest would. */
export async function createClient(
  service: TestService,
  name: string,
  spec: Partial<ClientSpec> = {},
): Promise<void> {
  await repeated(() =>
    service.store.change(service.store.systemCall(), (tx) =>
      tx.create(Client, {
        metadata: { name },
        status: { secrets: [] },
        internal: { secrets: [] },
        spec: {
          displayName: `${name} app`,
          type: 'Public',
          redirectURIs: ['https://app.example.test/callback'],
          scopes: [
            { name: 'openid', required: true },
            { name: 'email', required: true },
            { name: 'profile', required: false },
            { name: 'offline_access', required: false },
          ],
          ...spec,
        } as ClientSpec,
      }),
    ),
  );
}
