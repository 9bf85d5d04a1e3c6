import type { AdapterPayload } from 'oidc-provider';
import type { SignOut } from '../../kinds/people/session/session.js';
import { outboxRow } from '../../registry/store/outbox-row.js';
import { digest } from '../../security/keyring.js';
import type { ProviderServices } from '../context/context.js';
import { accountPageClient } from './built-in-clients.js';
import { clientObject } from './clients.js';

/** A Client to notify that a session ended (OpenID Connect Back-Channel Logout 1.0). */
export interface Notice {
  readonly client: string;
  readonly account: string;
  readonly sid: string;
  readonly session: string;
}

/**
 * The work after a commit: library Grants (hashed ids) whose tokens to delete, Grants whose
 * remaining copies to delete, and Clients to notify.
 */
export interface Cleanup {
  readonly grants?: readonly string[];
  readonly copies?: readonly string[];
  readonly notices?: readonly Notice[];
}

/** How long Clients are notified, in milliseconds. */
export const noticeLifetimeMs = 86_400_000;

/**
 * How long a notice's row outlives its deadline, in milliseconds. Within that time a worker records
 * GaveUp even if no replica ran at the deadline.
 */
export const noticeGraceMs = 3_600_000;

type Row = ReturnType<typeof outboxRow>;

/** Returns the outbox row that notifies one Client. */
export function noticeRow(services: ProviderServices, notice: Notice): Row {
  const now = Date.now();
  return outboxRow(services.secrets.keys, 'logout', notice, {
    id: digest(`${notice.session} ${notice.client} ${notice.sid}`),
    notBefore: now,
    until: now + noticeLifetimeMs + noticeGraceMs,
  });
}

/** Returns the outbox row that cleans up after a commit. */
export function cleanupRow(services: ProviderServices, work: Cleanup): Row {
  const now = Date.now();
  return outboxRow(services.secrets.keys, 'grants', work, {
    id: crypto.randomUUID(),
    notBefore: now,
    until: now + noticeLifetimeMs,
  });
}

/** The Clients of a session. */
export type Authorizations = NonNullable<AdapterPayload['authorizations']>;

/**
 * Returns the notices for the Clients of a session that support back-channel logout, and the state
 * of all its Clients.
 */
export async function noticesOf(
  services: ProviderServices,
  { session, account }: { readonly session: string; readonly account: string },
  authorizations: Authorizations,
): Promise<{ notices: Notice[]; states: SignOut['clients'] }> {
  const notices: Notice[] = [];
  const states: SignOut['clients'] = [];
  for (const [client, { sid }] of Object.entries(authorizations)) {
    if (client === accountPageClient) continue;
    const isNotified =
      sid !== undefined &&
      (await clientObject(services, client))?.spec.backchannelLogoutURI !== undefined;
    states.push({ name: client, state: isNotified ? 'Retrying' : 'Unsupported' });
    if (isNotified) notices.push({ client, account, sid, session });
  }
  return { notices, states };
}
