import type { AdapterPayload } from 'oidc-provider';
import { phishingResistant } from '../../kinds/people/session/acr.js';
import { type Method, Session } from '../../kinds/people/session/session.js';
import { describeBrowser, deviceOf } from '../../kinds/signin/user-agent.js';
import type { StagedWrites } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { digest } from '../../security/keyring.js';
import type { ProviderServices, SessionObject } from '../context/context.js';
import type { UnitOfWork } from '../context/unit-of-work.js';
import { ownerReferencesOf } from './accounts.js';
import { clientNames } from './clients.js';
import { enforceSessionLimit } from './new-session.js';
import { codeClientMemo, eventsWith } from './session-events.js';

/** The memo key of the sign-in method that this unit of work completes. */
export const loginMethodMemo = 'login';

/** The memo key of the time of that sign-in, in milliseconds since the epoch. */
export const loginTimeMemo = 'login time';

/** The memo key of the passkey that was added in the sign-in that this unit of work completes. */
export const addedPasskeyMemo = 'added passkey';

const resolutionMs = 300_000;

/**
 * Writes the Session object of a library session, in the commit that writes the library session.
 */
export async function projectSession(
  services: ProviderServices,
  unitOfWork: UnitOfWork,
  name: string,
  recordKey: string,
  payload: AdapterPayload,
): Promise<StagedWrites> {
  const clients = await clientsOf(services, payload);
  const userAgent = unitOfWork.origin.request?.headers['user-agent'] ?? '';
  const method = unitOfWork.memo.get(loginMethodMemo) as Method | undefined;
  const client = unitOfWork.memo.get(codeClientMemo) as string | undefined;
  const owned = ownerReferencesOf(payload.accountId!);
  return services.store.stage(Session, name, (old) => {
    if (old?.metadata.deletionTimestamp) return 'leave';
    if (!old)
      unitOfWork.afterCommit('new session', () =>
        services.runInBackground(() => enforceSessionLimit(services, payload.accountId!)),
      );
    return {
      ...(old ?? { metadata: { name, ...owned }, spec: {} }),
      ...internalOf(services, payload, recordKey, { unitOfWork, old }),
      status: statusOf(payload, clients, { userAgent, method, client, old }),
    } as SessionObject;
  });
}

function internalOf(
  services: ProviderServices,
  payload: AdapterPayload,
  recordKey: string,
  {
    unitOfWork: { memo },
    old,
  }: { readonly unitOfWork: UnitOfWork; readonly old: SessionObject | undefined },
): Pick<SessionObject, 'internal'> {
  const { addedPasskey: formerlyAdded, ...former } = old?.internal ?? {};
  const sameSignIn = old?.internal.loginSeconds === payload.loginTs ? formerlyAdded : undefined;
  const addedPasskey =
    (memo.get(addedPasskeyMemo) as SessionObject['internal']['addedPasskey']) ?? sameSignIn;
  return {
    internal: {
      ...former,
      ...(addedPasskey && { addedPasskey }),
      recordKey,
      uidDigest: digest(payload.uid!),
      loginSeconds: payload.loginTs!,
      epoch: services.epoch,
      expires: payload.exp! * 1000,
    },
  };
}

function statusOf(
  payload: AdapterPayload,
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
  const methods = method
    ? [method]
    : (old?.status.methods ?? [
        payload.acr === phishingResistant ? ('Passkey' as const) : ('EmailCode' as const),
      ]);
  const recentEvents = eventsWith(old, {
    method: methods[0]!,
    seconds: payload.loginTs!,
    browser: describeBrowser(userAgent),
    client,
  });
  return {
    account: payload.accountId!,
    current: false,
    authenticationTimestamp: toTimestamp(payload.loginTs! * 1000),
    methods,
    assurance: payload.acr ?? '',
    client: userAgent || !old ? deviceOf(userAgent) : old.status.client,
    lastUsedTimestamp: toTimestamp(now - last < resolutionMs ? last : now),
    expirationTimestamp: toTimestamp(payload.exp! * 1000),
    clients,
    ...(recentEvents && { recentEvents }),
    ...(old?.status.emailDeliveryState && { emailDeliveryState: old.status.emailDeliveryState }),
  };
}

/** Returns the Clients of a library session, except the account page. */
async function clientsOf(
  services: ProviderServices,
  payload: AdapterPayload,
): Promise<SessionObject['status']['clients']> {
  const names = Object.keys(payload.authorizations ?? {}).filter(
    (name) => name !== 'vestibule-account',
  );
  return Promise.all(names.map(async (name) => ({ name, ...(await clientNames(services, name)) })));
}
