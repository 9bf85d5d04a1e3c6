import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Pages } from './apiserver/pages.js';
import { Server } from './apiserver/server.js';
import { auditLog, type AuditLog } from './auditlog.js';
import type { Config } from './config.js';
import { Holdings } from './holdings.js';
import { DroppedKeys, goneFrom } from './droppedkeys.js';
import { ensureKeys, followKeys, readKeys } from './keysfile.js';
import { refuseOtherKeys } from './keysrecord.js';
import { closingWorker } from './kinds/account/closer.js';
import { actions, kinds } from './kinds/index.js';
import { Memberships } from './kinds/memberships.js';
import { MockMessage } from './kinds/mockmessage.js';
import { mockMessage } from './kinds/mockmail.js';
import { operatorsNow } from './kinds/operators.js';
import { noteDelivery } from './kinds/interaction/delivery.js';
import { OperatorPasskeys } from './kinds/operatorpasskeys.js';
import { sessionsWorker } from './kinds/othersessions.js';
import { webauthn } from './kinds/passkey/library.js';
import { openEngine } from './kinds/policy/engine.js';
import { recoveryWorker, stopRevivedRecoveries } from './kinds/recovery/worker.js';
import { openCourt, type Court } from './kinds/policy/law.js';
import { tallyWorker } from './kinds/policy/tally.js';
import { Troubles } from './kinds/policy/troubles.js';
import { declareBuiltIn, Suppliers } from './kinds/suppliers.js';
import type { Transport } from './mail/message.js';
import type { Meters } from './meters.js';
import { mailWorker, type Mailbox } from './mail/worker.js';
import { applyManifests } from './manifests.js';
import { followTrust, type FollowedTrust } from './proxytrust.js';
import { createIdentityProvider, type IdentityProvider } from './provider/provider.js';
import { AddressList } from './registry/addresslist.js';
import { Clocks } from './registry/clocks.js';
import { readEpoch } from './registry/epoch.js';
import { Hub } from './registry/hub.js';
import type { Keys } from './registry/keys.js';
import type { Authorize } from './registry/decision.js';
import type { Ports, Settings } from './registry/kind.js';
import type { Log } from './registry/observe.js';
import { Outbox } from './registry/outbox.js';
import { Registry } from './registry/registry.js';
import { Store } from './registry/store.js';
import { release } from './release.js';
import { relyingPartyID } from './relyingparty.js';
import { followedTransport } from './smtpfile.js';
import { startCompactor } from './storage/compactor.js';
import type { Storage } from './storage/storage.js';
import { embeddedFolder, etcdOptions, followCertificates } from './stores.js';
import { ownNames, tlsFiles, TLSFiles } from './tlsfiles.js';

/** A running service. */
export interface Service {
  readonly baseURL: string;
  /** The address it listens on. */
  readonly url: string;
  /** The one it serves TLS on, where it does. */
  readonly secureURL?: string;
  /** The one of the metrics port, where there is one. */
  readonly metricsURL?: string;
  readonly store: Store;
  /** Resolves when everything is made that the first requests would wait for. */
  readonly warmed: Promise<void>;
  /**
   * What was counted since the start, by name: `policy.…` of the decisions, else the provider's
   * events; for whoever measures.
   */
  counts(): ReadonlyMap<string, number>;
  /** Opens the audit log anew: its file may have been renamed. */
  reopen(): Promise<void>;
  /** Graceful: unready at once, requests finished, watches ended, the store closed. */
  stop(): Promise<void>;
}

/**
 * What a start may be given instead of making it; a storage is closed with the service, or where it
 * does not come up.
 */
interface Given {
  readonly storage?: Storage;
  readonly keys?: Keys /** Where a pod's service account is. */;
  readonly serviceAccount?: string;
}

/**
 * Opens the store, puts kinds, policy, provider and pages together, and listens; resolves when
 * ready. A start that fails leaves nothing open.
 */
export async function startService(
  config: Config,
  log: Log,
  folder: string,
  given: Given = {},
): Promise<Service> {
  const held = new Holdings();
  try {
    return await start(config, log, folder, given, held);
  } catch (error) {
    await held
      .release()
      .catch((failure) =>
        log.error({ err: failure }, 'a start that failed could not give everything back'),
      );
    throw error;
  }
}

async function start(
  config: Config,
  log: Log,
  folder: string,
  given: Given,
  held: Holdings,
): Promise<Service> {
  if (given.storage) held.add(() => given.storage!.close());
  const proxyTrust = trustFor(config, log, given, held);
  const keys = given.keys ?? (config.keysFile ? readKeys(config.keysFile) : undefined);
  let store: Store;
  let groups: Memberships;
  const registry = new Registry(
    config.mockMail ? kinds : kinds.filter((kind) => kind !== MockMessage),
    actions,
  );
  const opening = openEngine(kinds, actions, {
    operators: () => operatorsNow(store, groups),
    trouble: Troubles.into(log),
  });
  opening.catch(() => {
    /* thrown where it is awaited */
  });
  const meters =
    config.metricsPort === undefined ? undefined : new (await import('./meters.js')).Meters();
  const audit = openAudit(config.auditLogPath, log, held);
  const storage = given.storage ?? (await openStorage(config, log, held, meters));
  if (!given.storage) held.add(() => storage.close());
  const port = config.port || (await freePort(config.bindAddress));
  const baseURL = config.baseURL ?? `http://localhost:${port}`;
  const [settings, hub] = [
    await settingsOf(config, baseURL, storage, log),
    new Hub(storage, registry.kinds, log),
  ];
  const allKeys = keys ?? ensureKeys(keysFileOf(config));
  await useKeys(allKeys, given.keys ? undefined : keysFileOf(config), storage, log, held);
  let provider: IdentityProvider;
  let server: Server | undefined;
  let court: Court;
  const authorize: Authorize = (question) => court.authorize(question);
  const ports = (...request: Parameters<IdentityProvider['ports']>): Ports => ({
    ...provider.ports(...request),
    law: court,
  });
  store = new Store({ storage, registry, hub, keys: allKeys, settings, authorize, ports });
  court = openCourt(await opening, store, log, () => server?.renewViews());
  const outbox = new Outbox(store, allKeys, log);
  held.add(() => hub.stop());
  await hub.start();
  const suppliers = new Suppliers(store);
  const operatorPasskeys = new OperatorPasskeys(
    store,
    (groups = new Memberships(store, config.operators)),
  );
  await follow(groups, suppliers, operatorPasskeys, held);
  provider = createIdentityProvider({
    store,
    storage,
    keys: allKeys,
    settings,
    authorize,
    groups,
    operatorPasskeys,
    suppliers,
    stylesheet: () => server!.stylesheet,
    log,
    outbox,
    networkLimits: store.networkLimits,
  });
  held.add(provider.unproven.follow());
  await Promise.all([declareBuiltIn(store), stopRevivedRecoveries(store, log)]);
  const mail = await mailFor(config, store, log);
  if ('transport' in mail) held.add(() => mail.transport.close());
  for (const worker of [
    mailWorker(config.emailFrom, mail, log, meters?.mail, noteDelivery(store)),
    closingWorker(store),
    sessionsWorker(store),
    recoveryWorker(store),
    tallyWorker(store),
  ])
    outbox.register(worker);
  held.add(async () => {
    await provider.settled();
    await court.stop();
  });
  await court.start();
  if (config.manifests) await applyManifests(config.manifests, store, court);
  court.ready();
  const clocks = await followClocks(config, storage, allKeys, log, held);
  server = new Server({
    ...partsOf(config, { storage, hub, court, clocks }),
    store,
    keys: allKeys,
    log,
    baseURL,
    ownHost: config.mockMail ? new URL(baseURL) : undefined,
    authorize,
    limits: store.networkLimits,
    authenticators: provider.authenticators,
    ports,
    provider: (req, res) => provider.handle(req, res, req.network, req.auditID),
    errorPage: (status, auditID) => provider.errorPage(status, auditID),
    pages: new Pages(join(folder, 'dist/ui'), { mailbox: config.mockMail, baseURL }),
    ...(proxyTrust && { proxyTrust }),
    ...(meters && { meter: meters.server }),
    ...(audit && { audit }),
  });
  const watched = held.part(); // whoever looks sees the stop, too
  held.add(() => outbox.stop());
  held.add(startCompactor(storage, { interval: config.compactionSeconds * 1000 }));
  let [delay, warmed]: [number, Promise<void>] = [0, Promise.resolve()];
  held.add(async () => {
    await server.stop({ delay });
    await warmed;
  });
  const { certificate, ...urls } = await listen(
    config,
    { baseURL, port, begun: proxyTrust?.begun },
    server,
    log,
    held,
  );
  const seen =
    meters &&
    (await (
      await import('./instruments.js')
    ).observe(
      config,
      { meters, server, store, court, provider, outbox, clocks, audit, serving: certificate },
      log,
      watched,
    ));
  delay = config.shutdownDelay * 1000;
  outbox.start();
  server.ready();
  warmed = warm(registry, log);
  const counts = () =>
    new Map([
      ...Object.entries(court.counts()).map(([name, count]): [string, number] => [
        `policy.${name}`,
        count,
      ]),
      ...provider.counts,
    ]);
  return {
    baseURL,
    store,
    warmed,
    counts,
    ...urls,
    ...(seen && { metricsURL: urlOf('http', seen) }),
    stop: () => held.release(),
    reopen: async () => {
      await audit?.reopen();
    },
  };
}

/** Where the keys are: beside the embedded store where nothing else is said. */
const keysFileOf = ({ keysFile, store }: Config): string =>
  keysFile ?? join((store as { directory: string }).directory, 'keys.json');

/**
 * Refuses keys that are not those of the store; their file, where there is one, is followed until
 * the stop.
 */
async function useKeys(
  keys: Keys,
  file: string | undefined,
  storage: Storage,
  log: Log,
  held: Holdings,
): Promise<void> {
  await refuseOtherKeys(storage, keys);
  const dropped = new DroppedKeys(storage, keys, log);
  held.add(() => dropped.stop());
  await dropped.start();
  if (file !== undefined)
    held.add(followKeys(file, keys, log, (before) => dropped.drop(goneFrom(before, keys.ids()))));
}

/** Three indexes, kept up with their kinds until the stop. */
async function follow(
  groups: Memberships,
  suppliers: Suppliers,
  operatorPasskeys: OperatorPasskeys,
  held: Holdings,
): Promise<void> {
  held.add(() => {
    groups.stop();
    suppliers.stop();
    operatorPasskeys.stop();
  });
  operatorPasskeys.start();
  await Promise.all([groups.start(), suppliers.start()]);
}

/** What kinds and the provider may know of the settings. */
async function settingsOf(
  config: Config,
  baseURL: string,
  storage: Storage,
  log: Log,
): Promise<Settings> {
  const {
    limitFactor,
    limits,
    emailFrom,
    operators,
    allowPrivateNetwork,
    mockMail,
    deviceAuthorization,
  } = config;
  return {
    baseURL,
    limitFactor,
    limits,
    emailFrom,
    operators,
    allowPrivateNetwork,
    mockMail,
    deviceAuthorization,
    epoch: await readEpoch(storage),
    rpID: await relyingPartyID(storage, baseURL, log),
  };
}

/** What of the HTTP core follows from the settings and from the pieces that must be well. */
function partsOf(
  config: Config,
  {
    storage,
    hub,
    court,
    clocks,
  }: { storage: Storage; hub: Hub; court: Court; clocks: Clocks | undefined },
) {
  const stored = async (): Promise<void> => {
    await storage.get('meta/ready');
    if (!hub.ready) throw new Error('the hub is silent');
  };
  return {
    release,
    inflight: config.inflight,
    ...(config.trustedProxies.length > 0 && {
      trustedProxies: new AddressList(config.trustedProxies),
    }),
    checks: [
      { name: 'storage', run: stored },
      { name: 'policy', run: () => court.ready() },
      { name: 'clock', run: () => clocks?.check() },
    ],
  };
}

/** Which front proxies are believed, followed until the stop. */
function trustFor(
  { frontProxy }: Config,
  log: Log,
  { serviceAccount }: Given,
  held: Holdings,
): FollowedTrust | undefined {
  const followed = frontProxy && followTrust(frontProxy, log, serviceAccount);
  if (followed) held.add(() => followed.stop());
  return followed;
}

/**
 * The clocks of other replicas, and whether they have these keys: there are none beside an embedded
 * store.
 */
async function followClocks(
  { store }: Config,
  storage: Storage,
  keys: Keys,
  log: Log,
  held: Holdings,
): Promise<Clocks | undefined> {
  if (store.type !== 'etcd') return undefined;
  const clocks = new Clocks(storage, log, { keys: () => keys.ids() });
  held.add(() => clocks.stop());
  clocks.start();
  await clocks.written();
  await refuseOtherKeys(storage, keys); // of two that start at the same time, one at least reads what the other wrote
  return clocks;
}

function openAudit(path: string | undefined, log: Log, held: Holdings): AuditLog | undefined {
  if (path === undefined) return undefined;
  const audit = auditLog(path, log);
  held.add(() => audit.close());
  return audit;
}

/**
 * Opens the port, and the one for TLS where the settings name it; the files that it is served with
 * are followed until the stop.
 */
async function listen(
  { bindAddress, secure, store }: Config,
  { baseURL, port, begun }: { baseURL: string; port: number; begun: Promise<void> | undefined },
  server: Server,
  log: Log,
  held: Holdings,
): Promise<Pick<Service, 'url' | 'secureURL'> & { certificate?: () => string }> {
  const url = urlOf('http', await server.listen(port, bindAddress));
  if (!secure) return { url };
  const identity = new TLSFiles(
    tlsFiles(
      secure,
      store.type === 'embedded' ? store.directory : '',
      ownNames(baseURL, bindAddress),
      log,
    ),
    secure.minVersion,
    log,
  );
  held.add(() => identity.stop());
  const secureURL = urlOf('https', await server.listen(secure.port, bindAddress, identity));
  await begun; // meanwhile whoever asks is told to come back
  return { url, secureURL, certificate: () => identity.cert };
}

const urlOf = (scheme: string, { family, address, port }: AddressInfo): string =>
  `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

/** Gets ready, behind the first requests, what would make one of the next ones wait. */
const warm = (registry: Registry, log: Log): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(() => {
      registry.warm();
      webauthn().then(
        () => resolve(),
        (error) => {
          log.error({ err: error }, 'passkeys cannot be verified');
          resolve();
        },
      );
    });
  });

async function openStorage(
  { store }: Config,
  log: Log,
  held: Holdings,
  meters?: Meters,
): Promise<Storage> {
  const witness = meters && { witness: meters };
  if (store.type === 'embedded') {
    const { openEmbedded } = await import('./storage/embedded/embedded.js');
    return openEmbedded({ directory: embeddedFolder(store.directory), ...witness });
  }
  const { openEtcd } = await import('./storage/etcd/etcd.js');
  const options = etcdOptions(store);
  meters?.proves({ 'etcd-ca': options.ca, 'etcd-client': options.cert });
  const storage = await openEtcd({
    ...options,
    onWarning: (message) => log.warn(message),
    ...witness,
  });
  held.add(
    followCertificates(
      store,
      storage,
      ({ ca, cert }) => meters?.proves({ 'etcd-ca': ca, 'etcd-client': cert }),
      log,
    ),
  );
  return storage;
}

async function mailFor(
  config: Config,
  store: Store,
  log: Log,
): Promise<{ transport: Transport } | { mailbox: Mailbox }> {
  if (config.mockMail) return { mailbox: (mail, id) => mockMessage(store, mail, id) };
  const { smtpTransport } = await import('./mail/smtp.js');
  const to = (url: string): Transport => smtpTransport({ url });
  return {
    transport:
      config.smtpURLFile === undefined
        ? to(config.smtpURL!)
        : followedTransport(config.smtpURLFile, config.smtpURL!, to, log),
  };
}

/** A port that is free at this moment. */
async function freePort(address: string): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject).listen(0, address, () => resolve());
  });
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => {
    probe.close(resolve);
  });
  return port;
}
