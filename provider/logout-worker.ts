import type { Provider } from 'oidc-provider';
import { Session, type SignOut } from '../kinds/people/session/session.js';
import { objectKey } from '../registry/encoded-object.js';
import type { StagedWrites } from '../registry/kind.js';
import type { Outcome, Worker } from '../registry/store/outbox.js';
import { type Cleanup, type Notice, noticeGraceMs, noticeRow } from './adapter/outbox-rows.js';
import { revokeGrant, revokeOutdated } from './adapter/revocation.js';
import { discloseLogout } from './claims/disclosures.js';
import type { ProviderServices, SessionObject } from './context/context.js';
import type { NotifyClient } from './context/logout-notice.js';

type State = SignOut['clients'][number]['state'];

const retryDelaysMs = [5, 30, 120, 600, 1_800].map((seconds) => seconds * 1000);

const hourMs = 3_600_000;

/** The number of notices that one commit writes. */
const noticesPerCommit = 50;

/**
 * Returns the worker that notifies Clients of a logout: retries after 5 s, 30 s, 2 min, 10 min and
 * 30 min, then hourly for a day (docs/design/provider.md#logout-notices).
 */
export function logoutWorker(services: ProviderServices, notify: NotifyClient): Worker<Notice> {
  return {
    name: 'logout',
    delivery: 'AtLeastOnce',
    maxParallel: 8,
    async run(notice, row): Promise<Outcome> {
      const state = await attempt(() => notify(notice.client, notice.account, notice.sid));
      services.runtime.count(state === undefined ? 'backchannel.error' : 'backchannel.success');
      // An attempt without a response may have arrived nevertheless.
      if (state === undefined || state === 'Notified') {
        await discloseLogout(services, notice.account, notice.client, ['sub', 'sid']);
      }
      const notBefore = Date.now() + (retryDelaysMs[row.attempt - 1] ?? hourMs);
      if (state === undefined && notBefore < row.until - noticeGraceMs) {
        return { done: false, notBefore };
      }
      await recordState(
        services,
        notice,
        state === undefined || state === 'Gone' ? 'GaveUp' : state,
      );
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
 * Records the state of one Client. When none is pending, the Session is deleted in a commit of its
 * own, so that watchers see the final state first.
 */
async function recordState(
  services: ProviderServices,
  notice: Notice,
  state: State,
): Promise<void> {
  const key = objectKey(Session, notice.session);
  for (;;) {
    const stored = await services.store.stored(Session, notice.session);
    const clients = (stored?.object as SessionObject | undefined)?.status.signOut?.clients;
    if (!stored || !clients) return;
    const isRecorded = clients.every(
      (client) => client.name !== notice.client || client.state === state,
    );
    if (isRecorded && clients.some((client) => client.state === 'Retrying')) return;
    await services.store.commit([
      isRecorded
        ? { checks: [{ key, is: stored.revision }], writes: [{ delete: key }] }
        : await stageState(services, notice, state),
    ]);
  }
}

const stageState = (
  services: ProviderServices,
  { session, client }: Notice,
  state: State,
): Promise<StagedWrites> =>
  services.store.stage(Session, session, (old) => {
    if (!old?.status.signOut) return 'leave';
    const clients = old.status.signOut.clients.map((signedOut) =>
      signedOut.name === client ? { ...signedOut, state } : signedOut,
    );
    return { ...old, status: { ...old.status, signOut: { clients } } };
  });

/**
 * Returns the worker that cleans up after revoked Grants: their tokens, and copies and notices that
 * did not fit into a commit.
 */
export function grantsWorker(services: ProviderServices): Worker<Cleanup> {
  return {
    name: 'grants',
    delivery: 'Idempotent',
    maxParallel: 4,
    async run({ grants = [], copies = [], notices = [] }): Promise<Outcome> {
      for (const hashed of grants) await revokeGrant(services, hashed);
      for (const grant of copies) await revokeOutdated(services, grant);
      const writes = notices.map((notice) => noticeRow(services, notice));
      while (writes.length > noticesPerCommit) {
        await services.store.commit([{ checks: [], writes: writes.splice(0, noticesPerCommit) }]);
      }
      return { done: true, part: { checks: [], writes } };
    },
  };
}

/**
 * Replaces oidc-provider's logout call by a queue entry and returns the original for the worker.
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
