import type { Decision } from '../registry/kind.js';
import { accountObject, callerFor, domainOf } from './accounts.js';
import { currentExchange } from './exchange.js';
import type { AccountObject, Foundation } from './foundation.js';
import { reach } from './reach.js';

/** What policy says to one scope going to one Client; `openid` alone is never asked about. */
export async function mayShare(on: Foundation, account: AccountObject, client: string, scope: string, signedIn: object): Promise<Decision> {
  const { authenticated, methods } = signedIn as { authenticated?: number; methods?: string[] };
  const caller = await callerFor(on, account, { ...(authenticated !== undefined && { authenticated }), ...(methods && { methods }) });
  return reach(on.authorize({ caller, action: 'share', facts: { client, scope, account: account.metadata.name, domain: domainOf(account), ...signedIn } }));
}

/** Those of the scopes that policy refuses to share now. */
export async function refusedScopes(on: Foundation, name: string, client: string, scopes: readonly string[], signedIn: object): Promise<Set<string>> {
  const account = await accountObject(on, name);
  const refused = new Set<string>();
  for (const scope of scopes) {
    if (!account || scope === 'openid') continue;
    const decision = await mayShare(on, account, client, scope, signedIn);
    if (decision.part) currentExchange()?.add(decision.part);
    if (!decision.allowed) refused.add(scope);
  }
  return refused;
}
