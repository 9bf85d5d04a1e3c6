import { z } from 'zod';
import { defineKind } from '../../kinds/define-kind.js';
import { defaultLimits } from '../../kinds/limits/limit-settings.js';
import { createLog } from '../../observability/log.js';
import type { AnyKind, Ports, Settings } from '../../registry/kind.js';
import { Outbox, type Worker } from '../../registry/store/outbox.js';
import { Registry } from '../../registry/store/registry.js';
import { Store } from '../../registry/store/store.js';
import { WatchCache } from '../../registry/watchcache/watch-cache.js';
import { Keys } from '../../security/keyring.js';
import type { Storage } from '../../storage/storage.js';
import { authorizerOf } from '../support/authorizer-of.js';
import { testKeys } from '../support/keys.js';
import { startedSettings } from '../support/started-settings.js';

/** A kind that exists in these tests alone: a thing with a unique colour. */
export const Thing = defineKind({
  kind: 'Thing',
  resource: 'things',
  cached: true,
  description: 'A thing.',
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  spec: z.object({
    colour: z.string().max(32).optional().describe('Unique.'),
    size: z.number().int().default(1).describe('Size.'),
  }),
  status: z.object({}),
  unique: { colour: ({ spec }) => spec.colour },
  columns: {},
});

const keys = new Keys(testKeys());
const settings: Settings = {
  baseURL: 'http://localhost:1',
  component: 'vestibule',
  limitFactor: 1,
  limits: defaultLimits,
  epoch: 0,
  emailFrom: 'no-reply@example.test',
  operators: [],
  allowPrivateNetwork: [],
  mockMail: true,
  nameFallback: 'LocalPart',
  allowPrivateHTTPRedirects: false,
  deviceAuthorization: true,
  rpID: 'localhost',
  policyTimeZone: 'UTC',
  started: startedSettings,
};

/** One replica's registry over a storage: watch cache, store, and an outbox with these workers. */
export class Room {
  readonly storage: Storage;
  readonly watchCache: WatchCache;
  readonly store: Store;
  readonly keys: Keys;
  readonly outbox: Outbox;

  private constructor(storage: Storage, kinds: readonly AnyKind[], workers: readonly Worker[]) {
    const log = createLog('silent');
    this.storage = storage;
    this.keys = keys;
    this.watchCache = new WatchCache(storage, kinds, log);
    this.store = new Store({
      storage,
      registry: new Registry(kinds, []),
      watchCache: this.watchCache,
      keys,
      settings,
    });
    this.store.connect({
      authorizer: authorizerOf(() => ({ allowed: true, reasons: [] })),
      ports: () => ({}) as Ports,
    });
    this.outbox = new Outbox(this.store, keys, log);
    for (const worker of workers) this.outbox.register(worker);
  }

  static async open(
    storage: Storage,
    {
      kinds = [Thing],
      workers = [],
    }: { kinds?: readonly AnyKind[]; workers?: readonly Worker[] } = {},
  ): Promise<Room> {
    const room = new Room(storage, kinds, workers);
    await room.watchCache.start();
    room.outbox.start();
    return room;
  }

  async close(): Promise<void> {
    await this.outbox.stop();
    await this.watchCache.stop();
  }

  /** Makes a Thing, or changes the one there is. */
  async put(name: string, spec: { colour?: string; size?: number }): Promise<void> {
    await this.store.change(this.store.systemCall(), async (tx) => {
      if (await tx.get(Thing, name)) {
        await tx.update(Thing, name, (next) => {
          Object.assign(next.spec, spec);
        });
      } else {
        await tx.create(Thing, { metadata: { name }, spec: { size: 1, ...spec } });
      }
    });
  }

  async remove(name: string): Promise<void> {
    await this.store.change(this.store.systemCall(), (tx) => tx.delete(Thing, name));
  }

  /** Puts a row into the outbox as a transaction would. */
  async later(
    worker: string,
    payload: unknown,
    options: { id: string; until?: number; notBefore?: number },
  ): Promise<void> {
    const { until = Date.now() + 600_000, ...more } = options;
    await this.store.change(this.store.systemCall(), (tx) =>
      tx.enqueue(worker, payload, until, more),
    );
  }
}
