import type {
  ClientContext,
  Grant as LibraryGrant,
  Provider,
  ProviderContext,
  Session,
  SignedInContext,
} from 'oidc-provider';
import {
  type AudienceConsent,
  grantedScopeIDs,
  recordAudiences,
} from '../../kinds/apps/audience/grant-audiences.js';
import { scopesRequiredBy } from '../../kinds/apps/claims/scopes.js';
import { builtInClients } from '../../kinds/apps/client/client.js';
import { isDocumentURL } from '../../kinds/apps/client/document-url.js';
import { Grant, grantName, isGrantValid } from '../../kinds/apps/grant.js';
import { objectKey } from '../../registry/encoded-object.js';
import type { Decision } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { upsert } from '../../registry/store/upsert.js';
import { digest } from '../../security/keyring.js';
import { ownerReferencesOf, type SignedIn } from '../adapter/accounts.js';
import { type RequestedAudience, requestedAudiences } from '../adapter/audiences.js';
import { accountPageClient, apiAudience } from '../adapter/built-in-clients.js';
import { clientNames, clientObject } from '../adapter/clients.js';
import { newGrantExpiry } from '../adapter/grant-lifetime.js';
import {
  decisionFromIndex,
  encodeContext,
  savedContexts,
  signInFromIndex,
} from '../adapter/indexes.js';
import { cleanupRow } from '../adapter/outbox-rows.js';
import type { ClientObject, GrantObject, ProviderServices } from '../context/context.js';
import { currentUnitOfWork, requestState, requestUnitOfWork } from '../context/current-request.js';
import { withProviderErrors } from '../context/errors.js';
import { copiesPrefix, recordKeyOf } from '../context/records.js';
import { coversAudience, decideAudience, rememberedAudiences } from './audience-consent.js';
import { decideScopes, refusedScopes } from './policy.js';
import { signInOfSession } from './prompts.js';

const dayMs = 86_400_000;

/**
 * A consent: the granted and rejected scopes, the decision they come from, and the sign-in of the
 * person.
 */
interface Consent {
  readonly account: string;
  readonly client: string;
  readonly scopes: readonly string[];
  readonly rejected: readonly string[];
  readonly audiences?: readonly AudienceConsent[];
  readonly decision: number;
  readonly signedIn: SignedIn;
}

/**
 * Returns the Client uid that a recorded consent must have, so that a recreated Client of the same
 * name does not inherit it; empty for built-in clients and for those with a metadata document.
 */
const uidOfClient = (name: string, client: ClientObject | undefined): string | undefined =>
  builtInClients.has(name) || isDocumentURL(name) ? '' : client?.metadata.uid;

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
  return ifValid(services, client, stored?.object as GrantObject | undefined);
}

/** Returns the same without a check: a use of the Grant changes it, too. */
export const currentGrant = async (
  services: ProviderServices,
  account: string,
  client: string,
): Promise<GrantObject | undefined> =>
  ifValid(
    services,
    client,
    await withProviderErrors(services.store.reader(Grant).get(grantName(account, client))),
  );

async function ifValid(
  services: ProviderServices,
  client: string,
  grant: GrantObject | undefined,
): Promise<GrantObject | undefined> {
  if (!grant) return undefined;
  const registeredClient = await clientObject(services, client);
  const made = {
    uid: uidOfClient(client, registeredClient),
    firstParty: registeredClient?.spec.firstParty,
  };
  return isGrantValid(grant, made, Date.now()) ? grant : undefined;
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
  if (agreement.scopes.includes('api')) {
    grant.addResourceScope(apiAudience(services.settings.baseURL), 'api');
  }
  if (agreement.rejected.includes('api')) {
    grant.rejectResourceScope(apiAudience(services.settings.baseURL), 'api');
  }
  for (const { audience, scopes, rejected } of agreement.audiences ?? []) {
    const { identifier } = audience.spec;
    if (scopes.length > 0) grant.addResourceScope(identifier, scopes.join(' '));
    if (rejected.length > 0) grant.rejectResourceScope(identifier, rejected.join(' '));
  }
  requestState().mapOf(savedContexts).set(grant.jti, {
    decision: agreement.decision,
    signedIn: agreement.signedIn,
  });
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
  ctx: SignedInContext,
): Promise<LibraryGrant | undefined> {
  const { provider, client, account, session, result } = ctx.oidc;
  const pair = { account: account.accountId, client: client.clientId };
  const findMatching = async (id: string | undefined): Promise<LibraryGrant | undefined> => {
    const grant = id ? await provider.Grant.find(id) : undefined;
    return grant?.accountId === pair.account && grant.clientId === pair.client ? grant : undefined;
  };
  const copy = session.grantIdFor(pair.client);
  if (pair.client === accountPageClient) {
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
  }
  const remembered = await rememberedGrant(services, pair.account, pair.client);
  const isFirstParty = (await clientObject(services, pair.client))?.spec.firstParty;
  if (isFirstParty && !(await coversRequest(services, ctx, remembered))) {
    return grantFirstParty(services, ctx, remembered);
  }
  if (!remembered || ctx.oidc.promptPending('consent')) return undefined;
  if (result?.consent) {
    if (copy && replacesCopy(ctx)) revokeCopy(services, copy, remembered.metadata.name);
    return saveCopyForSession(services, ctx, remembered);
  }
  const current =
    copy && (await isCurrent(services, session, copy, remembered))
      ? await findMatching(copy)
      : undefined;
  return current && !(await hasFormerAudience(services, ctx, current, remembered))
    ? current
    : saveCopyForSession(services, ctx, remembered);
}

/**
 * Returns whether a copy grants scopes of a requested Audience that the Grant does not decide about:
 * it was made for an earlier Audience of this identifier.
 */
async function hasFormerAudience(
  services: ProviderServices,
  { oidc }: ClientContext,
  copy: LibraryGrant,
  remembered: GrantObject,
): Promise<boolean> {
  const requested = await requestedAudiences(services, oidc.client.clientId, oidc.params);
  return requested.some(
    (requestedAudience) =>
      copy.getResourceScope(requestedAudience.audience.spec.identifier) !== '' &&
      !coversAudience(remembered, requestedAudience),
  );
}

/**
 * Returns whether the copy that a consent makes replaces the session's: each connected device has
 * its own, and a consent to one Audience leaves the tokens for others.
 */
const replacesCopy = ({ oidc }: ProviderContext): boolean =>
  oidc.entities.Interaction?.deviceCode === undefined &&
  Object.keys(oidc.resourceServers).length === 0;

/** Deletes a library Grant in this commit; the outbox deletes its tokens afterwards. */
function revokeCopy(services: ProviderServices, grantId: string, remembered: string): void {
  const unitOfWork = requestUnitOfWork();
  const hashed = digest(grantId);
  unitOfWork.remove(recordKeyOf('Grant', hashed));
  unitOfWork.remove(copiesPrefix(remembered) + hashed);
  const row = cleanupRow(services, { grants: [hashed] });
  unitOfWork.write(row.put, row.value, row.expires);
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
  const unitOfWork = requestUnitOfWork();
  const stamp = await unitOfWork.read(key);
  if (!stamp || decisionFromIndex(stamp.value) !== decision) return false;
  if (signInFromIndex(stamp.value).authenticated !== session.loginTs) {
    unitOfWork.write(
      key,
      encodeContext({ decision, signedIn: await signInOfSession(services, session) }),
      Math.max(stamp.expires ?? 0, newGrantExpiry(services) + dayMs),
    );
  }
  return true;
}

/** Returns whether a recorded Grant decides about every scope that is requested. */
async function coversRequest(
  services: ProviderServices,
  { oidc }: ClientContext,
  grant: GrantObject | undefined,
): Promise<boolean> {
  if (!grant) return false;
  const decided = new Set([...grant.spec.scopes, ...grant.internal.rejected]);
  if ([...oidc.requestParamOIDCScopes].some((scope) => !decided.has(scope))) return false;
  const requested = await requestedAudiences(services, oidc.client.clientId, oidc.params);
  return requested.every((audience) => coversAudience(grant, audience));
}

/**
 * Saves a copy for this session without the scopes that policy refuses now: a refused required
 * scope asks for consent again, an optional one is left out.
 */
async function saveCopyForSession(
  services: ProviderServices,
  ctx: SignedInContext,
  remembered: GrantObject,
): Promise<LibraryGrant> {
  const { provider, client, session, account } = ctx.oidc;
  const { scopes } = remembered.spec;
  const pair = { account: account.accountId, client: client.clientId };
  const signedIn = await signInOfSession(services, session);
  const refused = refusedScopes(
    await decideScopes(services, pair.account, pair.client, scopes, signedIn),
  );
  const required = await requiredScopes(services, pair.client);
  return saveCopy(services, provider, {
    ...pair,
    audiences: await rememberedAudiences(services, { ...pair, signedIn }, remembered),
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
  ctx: SignedInContext,
  remembered: GrantObject | undefined,
): Promise<LibraryGrant> {
  const { provider, client, account, session, requestParamOIDCScopes } = ctx.oidc;
  const pair = { account: account.accountId, client: client.clientId };
  const requested = [...new Set([...(remembered?.spec.scopes ?? []), ...requestParamOIDCScopes])];
  const signedIn = await signInOfSession(services, session);
  const decisions = await decideScopes(services, pair.account, pair.client, requested, signedIn);
  const refused = refusedScopes(decisions);
  const required = await requiredScopes(services, pair.client);
  const scopes = requested.filter((scope) => !refused.has(scope));
  const rejected = [...refused].filter((scope) => !required.has(scope));
  const sharing = { ...pair, signedIn };
  const others = remembered ? await rememberedAudiences(services, sharing, remembered) : [];
  const asked = await requestedAudiences(services, pair.client, ctx.oidc.params);
  const audiences = await Promise.all(
    asked.map((request) => decideAudience(services, sharing, withFormerScopes(request, others))),
  );
  const decision = await stageFirstPartyGrant(services, pair, {
    scopes,
    rejected,
    audiences,
    decisions: new Map([...decisions, ...audiences.flatMap((audience) => [...audience.decisions])]),
  });
  const isAsked = ({ audience }: AudienceConsent): boolean =>
    asked.some((request) => request.audience.metadata.name === audience.metadata.name);
  return saveCopy(services, provider, {
    ...sharing,
    scopes,
    rejected,
    audiences: [...others.filter((other) => !isAsked(other)), ...audiences],
    decision,
  });
}

/** Returns a requested Audience with the scopes that the Client had before, too. */
function withFormerScopes(
  { audience, scopes }: RequestedAudience,
  former: readonly AudienceConsent[],
): RequestedAudience {
  const before = former.find((share) => share.audience.metadata.name === audience.metadata.name);
  return { audience, scopes: [...new Set([...(before?.scopes ?? []), ...scopes])] };
}

/** What a first-party Client is granted, and the decisions about it by scope. */
interface FirstPartyGrant {
  readonly scopes: string[];
  readonly rejected: string[];
  readonly audiences: readonly AudienceConsent[];
  readonly decisions: ReadonlyMap<string, Decision>;
}

/** Writes the Grant of a first-party Client in this commit; returns the number of its decision. */
async function stageFirstPartyGrant(
  services: ProviderServices,
  { account, client }: { readonly account: string; readonly client: string },
  { scopes, rejected, audiences, decisions }: FirstPartyGrant,
): Promise<number> {
  const name = grantName(account, client);
  const old = await withProviderErrors(services.store.reader(Grant).get(name));
  const decision = old ? old.internal.decision + 1 : Date.now();
  const names = await clientNames(services, client);
  const owned = ownerReferencesOf(account);
  const clientUID = uidOfClient(client, await clientObject(services, client)) ?? '';
  requestUnitOfWork().defer(`grant ${name}`, (tx) =>
    upsert(tx, Grant, name, (before) => {
      const internal = { decision, rejected, clientUID, firstParty: true, decided: Date.now() };
      const kept = before?.internal.audiences && { audiences: before.internal.audiences };
      const grant: GrantObject = {
        metadata: before?.metadata ?? ({ name, ...owned } as GrantObject['metadata']),
        spec: { ...before?.spec, scopes },
        status: {
          ...before?.status,
          account,
          client: { name: client, ...names },
          grantedTimestamp: toTimestamp(Date.now()),
          disclosures: before?.status.disclosures ?? [],
        },
        internal: { ...internal, ...kept },
      };
      recordAudiences(grant, audiences);
      grant.status.shareDecisions = [...grantedScopeIDs(grant.spec)].flatMap((scope) => {
        const policyDecision = decisions.get(scope)?.name ?? decisionBefore(before, scope);
        return policyDecision ? [{ scope, policyDecision }] : [];
      });
      return grant;
    }),
  );
  return decision;
}

const decisionBefore = (grant: GrantObject | undefined, wanted: string): string | undefined =>
  grant?.status.shareDecisions?.find(({ scope }) => scope === wanted)?.policyDecision;
