import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../../../observability/log.js';
import { jsonValue } from '../../../../registry/schema/json-value.js';
import { secondMs } from '../../../../registry/schema/units.js';
import type {
  ReplicaVersions,
  StoredVersions,
} from '../../../../registry/store/stored-versions.js';
import type { DisposableStack } from '../../../../security/disposable-stack.js';
import { prefixRange, type Storage } from '../../../../storage/storage.js';
import { clocksPrefix } from './clock-skew.js';

const intervalMs = 10 * secondMs;
/** Of a replica that says nothing of versions. */
const unknown: ReplicaVersions = { read: [], written: '' };

/** Returns what the running replicas of a store say of versions. */
export async function replicaVersions(storage: Storage): Promise<ReplicaVersions[]> {
  const { entries } = await storage.list(prefixRange(clocksPrefix));
  return entries
    .filter(({ expires = Infinity }) => expires > Date.now())
    .map((entry) => jsonValue<{ versions?: ReplicaVersions }>(entry).versions ?? unknown);
}

/**
 * Brings the objects of a store to the version of this release in the background, as soon as all
 * replicas read it, and follows a release that writes a newer one.
 */
export function startMigration(
  versions: StoredVersions,
  storage: Storage,
  log: Log,
  disposables: DisposableStack,
): void {
  const stop = new AbortController();
  const { signal } = stop;
  const step = async (): Promise<void> => {
    await versions.refresh();
    if (versions.isUniform) return;
    const objects = await versions.advance(await replicaVersions(storage), signal);
    if (objects > 0) log.info({ objects }, 'stored objects were rewritten in the newer version');
  };
  const run = async (): Promise<void> => {
    // An embedded store has no other replica that could change the version.
    while (!signal.aborted && !(versions.isUniform && storage.readsInProcess)) {
      await step().catch((error: unknown) => {
        log.error({ err: error }, 'the version of stored objects could not be checked');
      });
      await pause(intervalMs, undefined, { ref: false, signal }).catch(() => {});
    }
  };
  const running = run();
  disposables.add(async () => {
    stop.abort();
    await running;
  });
}
