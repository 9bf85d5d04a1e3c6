import type { SignedInPayload } from 'oidc-provider';
import { phishingResistant } from '../../kinds/people/session/acr.js';
import { type Method, Session } from '../../kinds/people/session/session.js';
import { describeBrowser, deviceOf } from '../../kinds/signin/user-agent.js';
import type { Transaction } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { upsert } from '../../registry/store/upsert.js';
import { digest } from '../../security/keyring.js';
import type { ProviderServices, SessionObject } from '../context/context.js';
import { StateKey } from '../context/request-state.js';
import { sessionName } from '../context/session-name.js';
import type { UnitOfWork } from '../context/unit-of-work.js';
import { ownerReferencesOf } from './accounts.js';
import { clientNames } from './clients.js';
import { enforceSessionLimit } from './new-session.js';
import { codeClient, eventsWith } from './session-events.js';

/** The method of the sign-in that the request completes. */
export const completedLogin = new StateKey<Method>();

/** The time of that sign-in, in milliseconds since the epoch. */
export const loginTime = new StateKey<number | undefined>();

/** The passkey that was added in that sign-in. */
export const addedPasskey = new StateKey<SessionObject['internal']['addedPasskey']>();

const resolutionMs = 300_000;

/**
 * Writes the Session object of a library session, in the commit that writes the library session.
 */
export async function projectSession(
  services: ProviderServices,
  { tx, unitOfWork }: { readonly tx: Transaction; readonly unitOfWork: UnitOfWork },
  recordKey: string,
  payload: SignedInPayload,
): Promise<void> {
  const name = sessionName(payload.accountId, payload.uid);
  const clients = await clientsOf(services, payload);
  const userAgent = unitOfWork.origin.request?.headers['user-agent'] ?? '';
  const method = unitOfWork.state.get(completedLogin);
  const client = unitOfWork.state.get(codeClient);
  const owned = ownerReferencesOf(payload.accountId);
  await upsert(tx, Session, name, (old) => {
    if (old?.metadata.deletionTimestamp) return 'leave';
    if (!old) {
      tx.after(() =>
        services.runtime.runInBackground(() => enforceSessionLimit(services, payload.accountId)),
      );
    }
    return {
      ...(old ?? { metadata: { name, ...owned }, spec: {} }),
      ...internalOf(services, payload, recordKey, { unitOfWork, old }),
      status: statusOf(payload, clients, { userAgent, method, client, old }),
    };
  });
}

function internalOf(
  services: ProviderServices,
  payload: SignedInPayload,
  recordKey: string,
  {
    unitOfWork: { state },
    old,
  }: { readonly unitOfWork: UnitOfWork; readonly old: SessionObject | undefined },
): Pick<SessionObject, 'internal'> {
  const { addedPasskey: formerlyAdded, ...former } = old?.internal ?? {};
  const sameSignIn = old?.internal.loginSeconds === payload.loginTs ? formerlyAdded : undefined;
  const added = state.get(addedPasskey) ?? sameSignIn;
  return {
    internal: {
      ...former,
      ...(added && { addedPasskey: added }),
      recordKey,
      uidDigest: digest(payload.uid),
      loginSeconds: payload.loginTs,
      epoch: services.secrets.epoch,
      expires: payload.exp * 1000,
    },
  };
}

/** Returns the method that an acr stands for. */
const methodOf = ({ acr }: SignedInPayload): Method =>
  acr === phishingResistant ? 'Passkey' : 'EmailCode';

function statusOf(
  payload: SignedInPayload,
  clients: SessionObject['status']['clients'],
  facts: {
    userAgent: string;
    method: Method | undefined;
    client: string | undefined;
    old: SessionObject | undefined;
  },
): SessionObject['status'] {
  const { userAgent, method, client, old } = facts;
  const now = Date.now();
  const last = old ? Date.parse(old.status.lastUsedTimestamp) : 0;
  const methods = method ? [method] : (old?.status.methods ?? [methodOf(payload)]);
  const recentEvents = eventsWith(old, {
    method: methods[0] ?? methodOf(payload),
    seconds: payload.loginTs,
    browser: describeBrowser(userAgent),
    client,
  });
  return {
    account: payload.accountId,
    current: false,
    authenticationTimestamp: toTimestamp(payload.loginTs * 1000),
    methods,
    assurance: payload.acr ?? '',
    client: userAgent || !old ? deviceOf(userAgent) : old.status.client,
    lastUsedTimestamp: toTimestamp(now - last < resolutionMs ? last : now),
    expirationTimestamp: toTimestamp(payload.exp * 1000),
    clients,
    ...(recentEvents && { recentEvents }),
    ...(old?.status.emailDeliveryState && { emailDeliveryState: old.status.emailDeliveryState }),
  };
}

/** Returns the Clients of a library session, except the account page. */
async function clientsOf(
  services: ProviderServices,
  payload: SignedInPayload,
): Promise<SessionObject['status']['clients']> {
  const names = Object.keys(payload.authorizations ?? {}).filter(
    (name) => name !== 'vestibule-account',
  );
  return Promise.all(names.map(async (name) => ({ name, ...(await clientNames(services, name)) })));
}
