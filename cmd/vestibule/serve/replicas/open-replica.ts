import type { Server } from '../../../../apiserver/server.js';
import type { RuntimeSettings } from '../../../../kinds/settings/runtime-settings.js';
import type { SettingsIndex } from '../../../../kinds/settings/settings-index.js';
import type { MailOutcomes } from '../../../../mail/outcomes.js';
import { release } from '../../../../observability/build-info.js';
import type { Log } from '../../../../observability/log.js';
import type { PolicyAuthorizer } from '../../../../policy/policy-service.js';
import type { IdentityProvider } from '../../../../provider/provider.js';
import { limitFlag } from '../../../../registry/limits/limit-flag.js';
import { toTimestamp } from '../../../../registry/schema/timestamp.js';
import type { Store } from '../../../../registry/store/store.js';
import { lastSnapshotTime } from '../../../../storage/snapshot/last-snapshot.js';
import type { Config } from '../../options/config.js';
import { shownSettings } from '../../options/shown-settings.js';
import type { ManifestController } from '../manifests/manifest-controller.js';
import type { Totals } from './hourly-counts.js';
import { LastMail } from './last-mail.js';
import { ReplicaRecorder, type ReplicaState } from './replica-recorder.js';

/** The parts that a Replica describes. */
interface ReplicaParts {
  readonly server: Server;
  readonly store: Store;
  readonly policy: PolicyAuthorizer;
  readonly provider: IdentityProvider;
  readonly mails: MailOutcomes;
  readonly manifests: ManifestController | undefined;
  readonly settings: SettingsIndex;
}

/** Returns the recorder of this process. */
export function openReplica(config: Config, parts: ReplicaParts, log: Log): ReplicaRecorder {
  const { store, mails } = parts;
  const server = config.smtpURL === undefined ? '' : new URL(config.smtpURL).host;
  const lastMail = new LastMail(store.storage, server, mails);
  const recorder = new ReplicaRecorder(store, log, {
    settings: () => shownSettings(parts.settings.current),
    totals: () => totalsOf(parts),
    state: () => stateOf(config, parts, lastMail),
  });
  mails.onFirstAccepted = () => recorder.refresh();
  parts.settings.onChange = () => recorder.refresh();
  if (parts.manifests) parts.manifests.onChange = () => recorder.refresh();
  return recorder;
}

const totalsOf = ({ store, policy, provider, mails }: ReplicaParts): Totals => ({
  signIns: below(provider.counts, 'sign_in.succeeded.'),
  signInsFailed: below(provider.counts, 'sign_in.failed.'),
  mails: new Map(mails.counts),
  refusedByRule: new Map(policy.refusals),
  refusedByLimit: refusedByFlag(store),
});

/** Returns the counts whose names begin with a prefix, by the rest of their names. */
const below = (counts: ReadonlyMap<string, number>, prefix: string): Map<string, number> =>
  new Map(
    [...counts].flatMap(([name, count]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), count] as const] : [],
    ),
  );

/** Returns what limits refused by the flag of each, or by its name: several may have one flag. */
function refusedByFlag({ networkLimits: { refusals } }: Store): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [limit, count] of refusals.totals()) {
    const setting = refusals.settingOf(limit);
    const name = setting === undefined ? limit : limitFlag(setting);
    sums.set(name, count + (sums.get(name) ?? 0));
  }
  return sums;
}

async function stateOf(
  config: Config,
  { server, store, policy, manifests, settings }: ReplicaParts,
  lastMail: LastMail,
) {
  const active = policy.activeName();
  const checks = await server.checks();
  const failedChecks = checks
    .filter(({ type, isHealthy }) => type === 'readyz' && !isHealthy)
    .map(({ name }) => name);
  const { lastMailAt, lastSnapshotAt } = await lastTimesOf(config, store, lastMail);
  const state: ReplicaState = {
    release,
    ready: failedChecks.length === 0,
    failedChecks,
    ...(active !== undefined && { policy: active }),
    store: {
      driver: store.storage.readsInProcess ? 'Embedded' : 'Etcd',
      copies: await copiesOf(store),
      ...(lastSnapshotAt !== undefined && { lastSnapshotTimestamp: toTimestamp(lastSnapshotAt) }),
    },
    ...(manifests && { manifests: [...manifests.files] }),
    refusals: refusalsOf(settings.current, store),
    ...(lastMailAt !== undefined && { lastMailTimestamp: toTimestamp(lastMailAt) }),
  };
  return state;
}

/** Returns what limits refused in the last hour, each with its setting. */
export const refusalsOf = (
  { displayed }: Pick<RuntimeSettings, 'displayed'>,
  { networkLimits }: Pick<Store, 'networkLimits'>,
) =>
  networkLimits.refusals.lastHour(Date.now()).map(({ name, setting, count }) => {
    if (setting === undefined) return { limit: name, count };
    const flag = limitFlag(setting);
    return { limit: name, setting: flag, value: String(displayed[flag]), count };
  });

/** Returns when a mail was accepted and a snapshot saved; nothing if the store does not answer. */
async function lastTimesOf(config: Config, { storage }: Store, lastMail: LastMail) {
  const record = config.store.type === 'embedded' ? config.store : { storage };
  try {
    return {
      lastMailAt: await lastMail.time(),
      lastSnapshotAt: await lastSnapshotTime(record),
    };
  } catch {
    return {};
  }
}

/** Returns the size of each copy that answers; none if the store does not. */
async function copiesOf({ storage }: Store): Promise<ReplicaState['store']['copies']> {
  const sizes = await storage.sizes?.().catch(() => undefined);
  return [...(sizes ?? [])].map(([name, { bytes, quota }]) => ({
    name,
    bytes,
    ...(quota !== undefined && { quotaBytes: quota }),
  }));
}
