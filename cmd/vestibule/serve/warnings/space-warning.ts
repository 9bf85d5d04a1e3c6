import { Grant } from '../../../../kinds/apps/grant.js';
import { Account } from '../../../../kinds/people/account/account.js';
import { Session } from '../../../../kinds/people/session/session.js';
import type { Log } from '../../../../observability/log.js';
import type { AnyKind } from '../../../../registry/kind.js';
import { dayMs, hourMs, minuteMs } from '../../../../registry/schema/units.js';
import type { Store } from '../../../../registry/store/store.js';
import { freeBytes } from '../../../../storage/embedded/space.js';
import { prefixRange, type Storage } from '../../../../storage/storage.js';
import type { Config } from '../../options/config.js';
import { type Load, neededBytes } from './space-need.js';

/** The first check waits until the start is over: it counts all sessions. */
const firstCheckMs = minuteMs;
const checkEveryMs = 6 * hourMs;

/** Returns how many bytes the store may take, or undefined where that is not known. */
export async function capacityOf(
  config: Config['store'],
  storage: Storage,
): Promise<number | undefined> {
  const copies = [...((await storage.sizes?.()) ?? [])].map(([, size]) => size);
  if (config.type === 'embedded') {
    return freeBytes(config.directory) + copies.reduce((sum, { bytes }) => sum + bytes, 0);
  }
  const quotas = copies.flatMap(({ quota }) => quota ?? []);
  return quotas.length > 0 ? Math.min(...quotas) : undefined;
}

/**
 * Returns what the store has to hold: live sessions stand for the sign-ins of as many days as a session
 * lasts without use.
 */
export async function loadOf({ storage, settings }: Store): Promise<Load> {
  const count = ({ resource }: AnyKind): Promise<number> =>
    storage.count(prefixRange(`objects/${resource}/`));
  const [accounts, grants, sessions] = [
    await count(Account),
    await count(Grant),
    await count(Session),
  ];
  const days = settings.limits.sessionIdleLifetime / dayMs;
  return { accounts, grants, signInsPerDay: Math.ceil(sessions / days) };
}

/** Logs a warning if the store will not fit into `capacity` bytes; returns whether it did. */
export async function warnOfSpace(
  store: Store,
  type: Config['store']['type'],
  capacity: number,
  log: Log,
): Promise<boolean> {
  const load = await loadOf(store);
  const needed = Math.ceil(neededBytes(load, store.settings.limits, type));
  if (needed <= capacity) return false;
  log.warn(
    { ...load, neededBytes: needed, capacityBytes: capacity, docs: 'docs/reference/space.md' },
    type === 'etcd'
      ? 'the quota of etcd is too small for the sign-ins of this service: raise --quota-backend-bytes of etcd or ' +
          'lower limits.signInRetention and limits.sessionIdleLifetime'
      : 'the disk is too small for the sign-ins of this service: enlarge it or lower ' +
          'limits.signInRetention and limits.sessionIdleLifetime',
  );
  return true;
}

/**
 * Warns of a store that is too small, a minute after the start and then every six hours; returns the
 * function that stops it.
 */
export function watchSpace(config: Config['store'], store: Store, log: Log): () => Promise<void> {
  let running = Promise.resolve();
  const check = async (): Promise<void> => {
    try {
      const capacity = await capacityOf(config, store.storage);
      if (capacity !== undefined) await warnOfSpace(store, config.type, capacity, log);
    } catch {
      // A store that does not answer is reported elsewhere.
    }
  };
  const next = (delayMs: number): NodeJS.Timeout =>
    setTimeout(() => {
      running = check();
      timer = next(checkEveryMs);
    }, delayMs).unref();
  let timer = next(firstCheckMs);
  return async () => {
    clearTimeout(timer);
    await running;
  };
}
