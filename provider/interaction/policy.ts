import type { Decision } from '../../registry/kind.js';
import { siteOf } from '../../security/fetch-metadata.js';
import { accountObject, callerFor, domainOf, type SignedIn } from '../adapter/accounts.js';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import type { AccountObject, ProviderServices } from '../context/context.js';

/** What policy says to one scope going to one Client. */
export async function mayShare(
  services: ProviderServices,
  account: AccountObject,
  client: string,
  scope: string,
  signedIn: SignedIn,
  record?: 'allowed' | 'never',
): Promise<Decision> {
  const { session: _, ...by } = signedIn;
  const facts = {
    client,
    scope,
    account: account.metadata.name,
    domain: domainOf(account),
    passkeys: account.status.passkeys,
    ...fromWhere(),
    ...by,
  };
  return services.authorize({
    caller: await callerFor(services, account, signedIn),
    action: 'share',
    facts,
    ...(record && { record }),
  });
}

/** What policy says to a person's sign-in at one Client. */
export async function maySignIn(
  services: ProviderServices,
  account: AccountObject,
  client: string,
  signedIn: SignedIn,
  record?: 'allowed' | 'never',
): Promise<Decision> {
  const { session: _, ...by } = signedIn;
  return services.authorize({
    caller: await callerFor(services, account, signedIn),
    action: 'signIn',
    facts: {
      client,
      account: account.metadata.name,
      domain: domainOf(account),
      passkeys: account.status.passkeys,
      ...fromWhere(),
      ...by,
    },
    ...(record && { record }),
  });
}

/** Where the browser says that the request under way comes from, as a fact for policy. */
export function fromWhere(): { site?: string } {
  const request = currentUnitOfWork()?.origin.request;
  const site = request && siteOf(request);
  return site ? { site } : {};
}

/** What policy says now to sharing each of the scopes. */
export async function judgeScopes(
  services: ProviderServices,
  name: string,
  client: string,
  scopes: readonly string[],
  signedIn: SignedIn,
): Promise<Map<string, Decision>> {
  const account = await accountObject(services, name);
  const decisions = new Map<string, Decision>();
  for (const scope of account ? scopes : [])
    decisions.set(scope, await mayShare(services, account!, client, scope, signedIn));
  return decisions;
}

/**
 * Those of the scopes that are refused, but `openid`: where that is refused, so is the whole
 * sign-in, before anything is issued.
 */
export const refusedIn = (decisions: ReadonlyMap<string, Decision>): Set<string> =>
  new Set(
    [...decisions]
      .filter(([scope, { allowed }]) => !allowed && scope !== 'openid')
      .map(([scope]) => scope),
  );
