import type { Grant as LibraryGrant, Provider, ProviderContext, Session } from 'oidc-provider';
import { Grant, grantName } from '../../kinds/grant.js';
import { scopesRequiredBy } from '../../kinds/claims/scopes.js';
import { digest } from '../../security/keyring.js';
import { objectKey } from '../../registry/encoded-object.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { ownedBy, type SignedIn } from '../adapter/accounts.js';
import { accountPage, apiAudience, builtIn } from '../adapter/built-in-clients.js';
import { clientName, clientObject } from '../adapter/clients.js';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import type { ClientObject, ProviderServices, GrantObject } from '../context/context.js';
import {
  decisionOf,
  signInOf,
  stamped,
  stampOf,
  type GrantAuthenticationContext,
} from '../adapter/indexes.js';
import { withProviderErrors } from '../context/errors.js';
import { copiesPrefix } from '../context/records.js';
import { signedInBy } from './prompts.js';
import { judgeScopes, refusedIn } from './policy.js';

const year = 365 * 86_400_000;

/**
 * What is agreed: the scopes granted, those rejected, the decision they come from, and how the
 * person was signed in.
 */
interface Agreement {
  readonly account: string;
  readonly client: string;
  readonly scopes: readonly string[];
  readonly rejected: readonly string[];
  readonly decision: number;
  readonly signedIn: SignedIn;
}

/**
 * The uid that a remembered decision must name for the Client to be the same one; the built-in ones
 * have none.
 */
const uidOfClient = (name: string, client: ClientObject | undefined): string | undefined =>
  builtIn.has(name) ? '' : client?.metadata.uid;

/**
 * The remembered decision, unless it is a year old or the Client was made again; the unit of work then
 * depends on it.
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
  if (!grant || grant.metadata.deletionTimestamp || Date.now() - grant.internal.decided > year)
    return undefined;
  const known = await clientObject(services, client);
  if (grant.internal.firstParty && !known?.spec.firstParty) return undefined;
  return grant.internal.clientUID === uidOfClient(client, known) ? grant : undefined;
}

/**
 * Saves a new library Grant with all that is agreed and all that is rejected, stamped with its
 * decision.
 */
export async function saveCopy(
  services: ProviderServices,
  provider: Provider,
  agreement: Agreement,
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
  currentUnitOfWork()?.memo.set(stampOf(grant.jti), {
    decision: agreement.decision,
    signedIn: agreement.signedIn,
  } satisfies GrantAuthenticationContext);
  await grant.save();
  return grant;
}

const newID = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');

/**
 * Which library Grant an authorization uses (docs/design/provider.md#grants): named by the
 * consent, the session's, a new copy, a first party's, or none.
 */
export async function loadExistingGrant(
  services: ProviderServices,
  ctx: ProviderContext,
): Promise<LibraryGrant | undefined> {
  const { provider, client, account, session, result } = ctx.oidc;
  const pair = { account: account!.accountId, client: client!.clientId };
  const fitting = async (id: string | undefined): Promise<LibraryGrant | undefined> => {
    const grant = id ? await provider.Grant.find(id) : undefined;
    return grant?.accountId === pair.account && grant.clientId === pair.client ? grant : undefined;
  };
  const named = await fitting(result?.consent?.grantId);
  if (named) return named;
  const copy = session!.grantIdFor(pair.client);
  if (pair.client === accountPage)
    return (
      (await fitting(copy)) ??
      saveCopy(services, provider, {
        ...pair,
        scopes: ['openid'],
        rejected: [],
        decision: 0,
        signedIn: {},
      })
    );
  const remembered = await rememberedGrant(services, pair.account, pair.client);
  const first = (await clientObject(services, pair.client))?.spec.firstParty;
  if (first && !covers(remembered, ctx.oidc.requestParamOIDCScopes))
    return agreeForFirstParty(services, ctx, remembered);
  if (!remembered) return undefined;
  const current =
    copy && (await isCurrent(services, session!, copy, remembered))
      ? await fitting(copy)
      : undefined;
  return current ?? copyOf(services, ctx, remembered);
}

/**
 * Whether a session's copy is of the decision as it stands; it is stamped again where the person has
 * signed in again since.
 */
async function isCurrent(
  services: ProviderServices,
  session: Session,
  copy: string,
  { metadata, internal: { decision } }: GrantObject,
): Promise<boolean> {
  const key = copiesPrefix(metadata.name) + digest(copy);
  const stamp = await currentUnitOfWork()!.get(key);
  if (stamp === undefined || decisionOf(stamp) !== decision) return false;
  if (signInOf(stamp).authenticated !== session.loginTs)
    currentUnitOfWork()!.put(
      key,
      stamped({ decision, signedIn: await signedInBy(services, session) }),
      Date.now() + year,
    );
  return true;
}

const covers = (grant: GrantObject | undefined, scopes: ReadonlySet<string>): boolean =>
  grant !== undefined &&
  [...scopes].every(
    (scope) => grant.spec.scopes.includes(scope) || grant.internal.rejected.includes(scope),
  );

/**
 * A copy for this session, without what policy refuses to share now: a required scope then asks for
 * consent again, an optional one stays out.
 */
async function copyOf(
  services: ProviderServices,
  ctx: ProviderContext,
  remembered: GrantObject,
): Promise<LibraryGrant> {
  const { provider, client, session, account } = ctx.oidc;
  const { scopes } = remembered.spec;
  const signedIn = await signedInBy(services, session!);
  const refused = refusedIn(
    await judgeScopes(services, account!.accountId, client!.clientId, scopes, signedIn),
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

/** The scopes without which a Client's sign-in makes no sense. */
const requiredScopes = async (
  services: ProviderServices,
  client: string,
): Promise<ReadonlySet<string>> => scopesRequiredBy(client, await clientObject(services, client));

/** A first party is agreed to on the spot, in our Grant and its copy alike. */
async function agreeForFirstParty(
  services: ProviderServices,
  ctx: ProviderContext,
  remembered: GrantObject | undefined,
): Promise<LibraryGrant> {
  const { provider, client, account, session, requestParamOIDCScopes } = ctx.oidc;
  const pair = { account: account!.accountId, client: client!.clientId };
  const asked = [...new Set([...(remembered?.spec.scopes ?? []), ...requestParamOIDCScopes])];
  const signedIn = await signedInBy(services, session!);
  const decisions = await judgeScopes(services, pair.account, pair.client, asked, signedIn);
  const refused = refusedIn(decisions);
  const required = await requiredScopes(services, pair.client);
  const scopes = asked.filter((scope) => !refused.has(scope));
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
  const displayName = await clientName(services, pair.client);
  const owned = ownedBy(pair.account);
  const clientUID = uidOfClient(pair.client, await clientObject(services, pair.client))!;
  currentUnitOfWork()!.defer(`grant ${name}`, () =>
    services.store.stage(Grant, name, (before) => ({
      metadata: before?.metadata ?? { name, ...owned },
      spec: { scopes },
      status: {
        ...before?.status,
        account: pair.account,
        client: { name: pair.client, displayName },
        grantedTimestamp: toTimestamp(Date.now()),
        disclosures: before?.status.disclosures ?? [],
        shareDecisions,
      },
      internal: { decision, rejected, clientUID, firstParty: true, decided: Date.now() },
    })),
  );
  return saveCopy(services, provider, { ...pair, scopes, rejected, decision, signedIn });
}
