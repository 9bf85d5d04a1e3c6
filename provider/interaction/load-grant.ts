import type { Grant as LibraryGrant, Provider, ProviderContext, Session } from 'oidc-provider';
import { Grant, grantName } from '../../kinds/grant.js';
import { scopesRequiredBy } from '../../kinds/claims/scopes.js';
import { digest } from '../../security/keyring.js';
import { objectKey } from '../../registry/encoded-object.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { ownerReferencesOf, type SignedIn } from '../adapter/accounts.js';
import { builtInClients } from '../../kinds/client/client.js';
import { accountPageClient, apiAudience } from '../adapter/built-in-clients.js';
import { clientNames, clientObject } from '../adapter/clients.js';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import type { ClientObject, ProviderServices, GrantObject } from '../context/context.js';
import {
  decisionFromIndex,
  signInFromIndex,
  encodeContext,
  authenticationContextMemo,
  type GrantAuthenticationContext,
} from '../adapter/indexes.js';
import { cleanupRow } from '../adapter/outbox-rows.js';
import { withProviderErrors } from '../context/errors.js';
import { copiesPrefix, recordKeyOf } from '../context/records.js';
import { signInOfSession } from './prompts.js';
import { decideScopes, refusedScopes } from './policy.js';

const yearMs = 365 * 86_400_000;

/**
 * A consent: the granted and rejected scopes, the decision they come from, and the sign-in of the
 * person.
 */
interface Consent {
  readonly account: string;
  readonly client: string;
  readonly scopes: readonly string[];
  readonly rejected: readonly string[];
  readonly decision: number;
  readonly signedIn: SignedIn;
}

/**
 * Returns the Client uid that a recorded consent must have, so that a recreated Client of the same
 * name does not inherit it; empty for built-in clients.
 */
const uidOfClient = (name: string, client: ClientObject | undefined): string | undefined =>
  builtInClients.has(name) ? '' : client?.metadata.uid;

/**
 * Returns the recorded consent; undefined if it is older than a year or the Client was recreated.
 * The commit of the unit of work checks that it is unchanged.
 */
export async function rememberedGrant(
  services: ProviderServices,
  account: string,
  client: string,
): Promise<GrantObject | undefined> {
  const name = grantName(account, client);
  const stored = await withProviderErrors(services.store.stored(Grant, name));
  currentUnitOfWork()?.check({
    key: objectKey(Grant, name),
    is: stored ? stored.revision : 'absent',
  });
  const grant = stored?.object as GrantObject | undefined;
  if (!grant || grant.metadata.deletionTimestamp || Date.now() - grant.internal.decided > yearMs)
    return undefined;
  const registeredClient = await clientObject(services, client);
  if (grant.internal.firstParty && !registeredClient?.spec.firstParty) return undefined;
  return grant.internal.clientUID === uidOfClient(client, registeredClient) ? grant : undefined;
}

/**
 * Saves a new library Grant with the granted and rejected scopes and its authentication context.
 */
export async function saveCopy(
  services: ProviderServices,
  provider: Provider,
  agreement: Consent,
): Promise<LibraryGrant> {
  const grant = new provider.Grant({
    accountId: agreement.account,
    clientId: agreement.client,
    jti: newID(),
  });
  if (agreement.scopes.length > 0) grant.addOIDCScope(agreement.scopes.join(' '));
  if (agreement.rejected.length > 0) grant.rejectOIDCScope(agreement.rejected.join(' '));
  if (agreement.scopes.includes('api'))
    grant.addResourceScope(apiAudience(services.settings.baseURL), 'api');
  if (agreement.rejected.includes('api'))
    grant.rejectResourceScope(apiAudience(services.settings.baseURL), 'api');
  currentUnitOfWork()?.memo.set(authenticationContextMemo(grant.jti), {
    decision: agreement.decision,
    signedIn: agreement.signedIn,
  } satisfies GrantAuthenticationContext);
  await grant.save();
  return grant;
}

const newID = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');

/**
 * Returns the library Grant for an authorization (docs/design/provider.md#grants): the one the
 * consent names, the session's, a new copy, or a first party's; undefined if none applies.
 */
export async function loadExistingGrant(
  services: ProviderServices,
  ctx: ProviderContext,
): Promise<LibraryGrant | undefined> {
  const { provider, client, account, session, result } = ctx.oidc;
  const pair = { account: account!.accountId, client: client!.clientId };
  const findMatching = async (id: string | undefined): Promise<LibraryGrant | undefined> => {
    const grant = id ? await provider.Grant.find(id) : undefined;
    return grant?.accountId === pair.account && grant.clientId === pair.client ? grant : undefined;
  };
  const copy = session!.grantIdFor(pair.client);
  if (pair.client === accountPageClient)
    return (
      (await findMatching(copy)) ??
      saveCopy(services, provider, {
        ...pair,
        scopes: ['openid'],
        rejected: [],
        decision: 0,
        signedIn: {},
      })
    );
  const remembered = await rememberedGrant(services, pair.account, pair.client);
  const isFirstParty = (await clientObject(services, pair.client))?.spec.firstParty;
  if (isFirstParty && !coversScopes(remembered, ctx.oidc.requestParamOIDCScopes))
    return grantFirstParty(services, ctx, remembered);
  if (!remembered || ctx.oidc.promptPending('consent')) return undefined;
  if (result?.consent) {
    if (copy && ctx.oidc.entities.Interaction?.deviceCode === undefined)
      revokeCopy(services, copy, remembered.metadata.name);
    return saveCopyForSession(services, ctx, remembered);
  }
  const current =
    copy && (await isCurrent(services, session!, copy, remembered))
      ? await findMatching(copy)
      : undefined;
  return current ?? saveCopyForSession(services, ctx, remembered);
}

/** Deletes a library Grant in this commit; the outbox deletes its tokens afterwards. */
function revokeCopy(services: ProviderServices, grantId: string, remembered: string): void {
  const unitOfWork = currentUnitOfWork()!;
  const hashed = digest(grantId);
  unitOfWork.delete(recordKeyOf('Grant', hashed));
  unitOfWork.delete(copiesPrefix(remembered) + hashed);
  const row = cleanupRow(services, { grants: [hashed] });
  unitOfWork.put(row.put, row.value, row.expires);
}

/**
 * Returns true if the session's copy comes from the current decision. Updates its authentication
 * context if the person has signed in again.
 */
async function isCurrent(
  services: ProviderServices,
  session: Session,
  copy: string,
  { metadata, internal: { decision } }: GrantObject,
): Promise<boolean> {
  const key = copiesPrefix(metadata.name) + digest(copy);
  const stamp = await currentUnitOfWork()!.get(key);
  if (stamp === undefined || decisionFromIndex(stamp) !== decision) return false;
  if (signInFromIndex(stamp).authenticated !== session.loginTs)
    currentUnitOfWork()!.put(
      key,
      encodeContext({ decision, signedIn: await signInOfSession(services, session) }),
      Date.now() + yearMs,
    );
  return true;
}

const coversScopes = (grant: GrantObject | undefined, scopes: ReadonlySet<string>): boolean =>
  grant !== undefined &&
  [...scopes].every(
    (scope) => grant.spec.scopes.includes(scope) || grant.internal.rejected.includes(scope),
  );

/**
 * Saves a copy for this session without the scopes that policy refuses now: a refused required
 * scope asks for consent again, an optional one is left out.
 */
async function saveCopyForSession(
  services: ProviderServices,
  ctx: ProviderContext,
  remembered: GrantObject,
): Promise<LibraryGrant> {
  const { provider, client, session, account } = ctx.oidc;
  const { scopes } = remembered.spec;
  const signedIn = await signInOfSession(services, session!);
  const refused = refusedScopes(
    await decideScopes(services, account!.accountId, client!.clientId, scopes, signedIn),
  );
  const required = await requiredScopes(services, client!.clientId);
  return saveCopy(services, provider, {
    account: account!.accountId,
    client: client!.clientId,
    decision: remembered.internal.decision,
    signedIn,
    scopes: scopes.filter((scope) => !refused.has(scope)),
    rejected: [
      ...remembered.internal.rejected,
      ...scopes.filter((scope) => refused.has(scope) && !required.has(scope)),
    ],
  });
}

/** Returns the scopes that a Client's sign-in requires. */
const requiredScopes = async (
  services: ProviderServices,
  client: string,
): Promise<ReadonlySet<string>> => scopesRequiredBy(client, await clientObject(services, client));

/** Grants a first-party Client its scopes without consent, in the Grant object and its copy. */
async function grantFirstParty(
  services: ProviderServices,
  ctx: ProviderContext,
  remembered: GrantObject | undefined,
): Promise<LibraryGrant> {
  const { provider, client, account, session, requestParamOIDCScopes } = ctx.oidc;
  const pair = { account: account!.accountId, client: client!.clientId };
  const requested = [...new Set([...(remembered?.spec.scopes ?? []), ...requestParamOIDCScopes])];
  const signedIn = await signInOfSession(services, session!);
  const decisions = await decideScopes(services, pair.account, pair.client, requested, signedIn);
  const refused = refusedScopes(decisions);
  const required = await requiredScopes(services, pair.client);
  const scopes = requested.filter((scope) => !refused.has(scope));
  const rejected = [...refused].filter((scope) => !required.has(scope));
  const shareDecisions = scopes.flatMap((scope) => {
    const policyDecision = decisions.get(scope)?.name;
    return policyDecision ? [{ scope, policyDecision }] : [];
  });
  const name = grantName(pair.account, pair.client);
  const old = (await withProviderErrors(services.store.stored(Grant, name)))?.object as
    | GrantObject
    | undefined;
  const decision = old ? old.internal.decision + 1 : Date.now();
  const names = await clientNames(services, pair.client);
  const owned = ownerReferencesOf(pair.account);
  const clientUID = uidOfClient(pair.client, await clientObject(services, pair.client))!;
  currentUnitOfWork()!.defer(`grant ${name}`, () =>
    services.store.stage(Grant, name, (before) => ({
      metadata: before?.metadata ?? { name, ...owned },
      spec: { scopes },
      status: {
        ...before?.status,
        account: pair.account,
        client: { name: pair.client, ...names },
        grantedTimestamp: toTimestamp(Date.now()),
        disclosures: before?.status.disclosures ?? [],
        shareDecisions,
      },
      internal: { decision, rejected, clientUID, firstParty: true, decided: Date.now() },
    })),
  );
  return saveCopy(services, provider, { ...pair, scopes, rejected, decision, signedIn });
}
