import type { Provider } from 'oidc-provider';
import { Session, type SignOut } from '../kinds/session/session.js';
import { objectKey } from '../registry/encoded-object.js';
import type { StagedWrites } from '../registry/kind.js';
import type { Outcome, Worker } from '../registry/outbox.js';
import { discloseLogout } from './claims/disclosures.js';
import type { ProviderServices, SessionObject } from './context/context.js';
import { lateBy, noticeRow, type Cleanup, type Notice } from './adapter/outbox-rows.js';
import { revokeGrant, revokeOutdated } from './adapter/revocation.js';
import type { NotifyClient } from './context/logout-notice.js';

type State = SignOut['clients'][number]['state'];

const pauses = [5, 30, 120, 600, 1_800].map((seconds) => seconds * 1000);

const hour = 3_600_000;

/** So many notices are written in one commit. */
const noticesAtOnce = 50;

/**
 * Tells Clients that a session ended: again after 5 s, 30 s, 2 min, 10 min, 30 min, then hourly for
 * a day (docs/design/provider.md#logout-notices).
 */
export function logoutWorker(services: ProviderServices, tell: NotifyClient): Worker {
  return {
    name: 'logout',
    delivery: 'AtLeastOnce',
    maxParallel: 8,
    async run(payload, row): Promise<Outcome> {
      const notice = payload as Notice;
      const told = await attempt(() => tell(notice.client, notice.account, notice.sid));
      services.count(told === undefined ? 'backchannel.error' : 'backchannel.success');
      // An attempt without an answer may have arrived all the same.
      if (told === undefined || told === 'Notified')
        await discloseLogout(services, notice.account, notice.client, ['sub', 'sid']);
      const notBefore = Date.now() + (pauses[row.attempt - 1] ?? hour);
      if (told === undefined && notBefore < row.until - lateBy) return { done: false, notBefore };
      await noteState(services, notice, told === undefined || told === 'Gone' ? 'GaveUp' : told);
      return { done: true };
    },
  };
}

async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}

/**
 * Writes what became of one Client. Where no one is left to be told the Session goes, in a commit
 * of its own: anyone who watches it has read the outcome by then.
 */
async function noteState(services: ProviderServices, notice: Notice, state: State): Promise<void> {
  const key = objectKey(Session, notice.session);
  for (;;) {
    const stored = await services.store.stored(Session, notice.session);
    const clients = (stored?.object as SessionObject | undefined)?.status.signOut?.clients;
    if (!stored || !clients) return;
    const noted = clients.every((one) => one.name !== notice.client || one.state === state);
    if (noted && clients.some((one) => one.state === 'Retrying')) return;
    await services.store.commit([
      noted
        ? { checks: [{ key, is: stored.revision }], writes: [{ delete: key }] }
        : await notedOf(services, notice, state),
    ]);
  }
}

const notedOf = (
  services: ProviderServices,
  { session, client }: Notice,
  state: State,
): Promise<StagedWrites> =>
  services.store.stage(Session, session, (old) => {
    if (!old?.status.signOut) return 'leave';
    const clients = old.status.signOut.clients.map((one) =>
      one.name === client ? { ...one, state } : one,
    );
    return { ...old, status: { ...old.status, signOut: { clients } } };
  });

/**
 * Clears up after dead Grants: what was issued under them, copies that did not fit into a commit,
 * notices likewise.
 */
export function grantsWorker(services: ProviderServices): Worker {
  return {
    name: 'grants',
    delivery: 'Idempotent',
    maxParallel: 4,
    async run(payload): Promise<Outcome> {
      const { grants = [], copies = [], notices = [] } = payload as Cleanup;
      for (const hashed of grants) await revokeGrant(services, hashed);
      for (const grant of copies) await revokeOutdated(services, grant);
      const writes = notices.map((notice) => noticeRow(services, notice));
      while (writes.length > noticesAtOnce)
        await services.store.commit([{ checks: [], writes: writes.splice(0, noticesAtOnce) }]);
      return { done: true, part: { checks: [], writes } };
    },
  };
}

/**
 * Replaces what the library does at its own sign-out page by an entry in the queue, and keeps the
 * original for the queue.
 */
export function queueLogouts(
  provider: Provider,
  queue: (client: string, account: string, sid: string) => void,
): NotifyClient {
  const original = provider.Client.prototype.backchannelLogout;
  provider.Client.prototype.backchannelLogout = async function append(sub, sid) {
    queue(this.clientId, sub, sid);
  };
  return async (name, account, sid) => {
    const client = await provider.Client.find(name);
    if (!client) return 'Gone';
    if (!client.backchannelLogoutUri) return 'Unsupported';
    await original.call(client, account, sid);
    return 'Notified';
  };
}
