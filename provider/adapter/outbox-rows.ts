import type { AdapterPayload } from 'oidc-provider';
import { digest } from '../../security/keyring.js';
import { outboxRow } from '../../registry/outbox-row.js';
import { accountPage } from './built-in-clients.js';
import { clientObject } from './clients.js';
import type { SignOut } from '../../kinds/session/session.js';
import type { ProviderServices } from '../context/context.js';

/** Someone to be told that a session ended (OpenID Connect Back-Channel Logout 1.0). */
export interface Notice {
  readonly client: string;
  readonly account: string;
  readonly sid: string;
  readonly session: string;
}

/**
 * What follows a commit: grants whose tokens are to go (hashed ids), remembered Grants with copies
 * left, Clients left to be told.
 */
export interface Cleanup {
  readonly grants?: readonly string[];
  readonly copies?: readonly string[];
  readonly notices?: readonly Notice[];
}

/** For how long Clients are told, in milliseconds. */
export const tellFor = 86_400_000;

/**
 * How much later its row still stands, in milliseconds, so that who was to be told is given up and
 * not forgotten where no replica ran when the time was over.
 */
export const lateBy = 3_600_000;

type Row = ReturnType<typeof outboxRow>;

/** The outbox row that tells one Client. */
export function noticeRow(services: ProviderServices, notice: Notice): Row {
  const now = Date.now();
  return outboxRow(services.keys, 'logout', notice, {
    id: digest(`${notice.session} ${notice.client} ${notice.sid}`),
    notBefore: now,
    until: now + tellFor + lateBy,
  });
}

/** The outbox row that clears up after a commit. */
export function cleanupRow(services: ProviderServices, work: Cleanup): Row {
  const now = Date.now();
  return outboxRow(services.keys, 'grants', work, {
    id: crypto.randomUUID(),
    notBefore: now,
    until: now + tellFor,
  });
}

/** Those of a session's Clients that want to be told, and what becomes of all of them. */
export async function noticesOf(
  services: ProviderServices,
  session: string,
  payload: AdapterPayload,
): Promise<{ notices: Notice[]; states: SignOut['clients'] }> {
  const notices: Notice[] = [];
  const states: SignOut['clients'] = [];
  for (const [client, { sid }] of Object.entries(payload.authorizations ?? {})) {
    if (client === accountPage) continue;
    const told =
      sid !== undefined &&
      (await clientObject(services, client))?.spec.backchannelLogoutURI !== undefined;
    states.push({ name: client, state: told ? 'Retrying' : 'Unsupported' });
    if (told) notices.push({ client, account: payload.accountId!, sid, session });
  }
  return { notices, states };
}
