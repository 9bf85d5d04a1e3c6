import type { Decision } from '../registry/kind.js';
import { siteOf } from '../registry/site.js';
import { accountObject, callerFor, domainOf, type SignedIn } from './accounts.js';
import { currentExchange } from './exchange.js';
import type { AccountObject, Foundation } from './foundation.js';

/** What policy says to one scope going to one Client; `openid` alone is never asked about. */
export async function mayShare(on: Foundation, account: AccountObject, client: string, scope: string, signedIn: object): Promise<Decision> {
  return on.authorize({ caller: await callerFor(on, account, signedIn), action: 'share', facts: { client, scope, account: account.metadata.name, domain: domainOf(account), ...fromWhere(), ...signedIn } });
}

/** What policy says to a person's sign-in at one Client. */
export async function maySignIn(on: Foundation, account: AccountObject, client: string, signedIn: SignedIn, record?: 'allowed' | 'never'): Promise<Decision> {
  const { session: _, ...by } = signedIn;
  return on.authorize({ caller: await callerFor(on, account, signedIn), action: 'signIn', facts: { client, account: account.metadata.name, domain: domainOf(account), ...fromWhere(), ...by }, ...(record && { record }) });
}

/** Where the browser says that the request under way comes from, as a fact for policy. */
export function fromWhere(): { site?: string } {
  const request = currentExchange()?.origin.request;
  const site = request && siteOf(request);
  return site ? { site } : {};
}

/** Those of the scopes that policy refuses to share now. */
export async function refusedScopes(on: Foundation, name: string, client: string, scopes: readonly string[], signedIn: object): Promise<Set<string>> {
  const account = await accountObject(on, name);
  const refused = new Set<string>();
  for (const scope of scopes) {
    if (!account || scope === 'openid') continue;
    const decision = await mayShare(on, account, client, scope, signedIn);
    if (!decision.allowed) refused.add(scope);
  }
  return refused;
}
