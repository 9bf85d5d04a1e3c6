import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { domainOf } from '../../kinds/signin/email-address.js';
import { isOnChange, loaded, type Recorded } from '../../registry/authorizer.js';
import { anonymous } from '../../registry/caller.js';
import type { Decision } from '../../registry/kind.js';
import { siteOf } from '../../security/fetch-metadata.js';
import { accountObject, callerFor, type SignedIn } from '../adapter/accounts.js';
import type { AccountObject, ProviderServices } from '../context/context.js';
import { currentUnitOfWork } from '../context/current-request.js';

/** How a sign-in is decided: recorded, recorded if it is permitted, or not recorded. */
export type Recording = Recorded | 'nothing' | undefined;

/** Returns the policy decision about sharing a scope with a Client. */
export const decideShare = (
  services: ProviderServices,
  account: AccountObject,
  client: string,
  scope: string,
  signedIn: SignedIn,
  recording?: Recording,
): Promise<Decision> => decide(services, account, 'share', { client, scope }, signedIn, recording);

/** Returns the policy decision about a person's sign-in to a Client. */
export const decideSignIn = (
  services: ProviderServices,
  account: AccountObject,
  client: string,
  signedIn: SignedIn,
  recording?: Recording,
): Promise<Decision> => decide(services, account, 'signIn', { client }, signedIn, recording);

async function decide(
  services: ProviderServices,
  account: AccountObject,
  action: 'share' | 'signIn',
  target: {
    readonly client: string;
    readonly scope?: string;
    readonly scopesRequested?: readonly string[];
    readonly acrRequested?: string;
  },
  signedIn: SignedIn,
  recording?: Recording,
): Promise<Decision> {
  const { session: _, ...by } = signedIn;
  const { authorizer } = services.policy;
  const attributes = await loaded(authorizer, {
    caller: await callerFor(services, account, signedIn),
    action,
    facts: {
      ...target,
      account: account.metadata.name,
      domain: domainOf(account.status.email.address),
      passkeys: account.status.passkeys,
      ...requestFacts(),
      ...by,
    },
  });
  return recording === 'nothing'
    ? authorizer.decideQuietly(attributes)
    : authorizer.decide(attributes, recording);
}

/** The endpoints that a browser opens for a person; apps send the requests to all others. */
const opensInBrowser = /^\/oauth2\/(auth|device)(?!\/auth\b)(\/|\?|$)/;

/**
 * Returns the facts of the current request: its site, its Audit-ID and program, and its network if a
 * person's browser sends it.
 */
function requestFacts(): Readonly<Record<string, string>> {
  const { request, network, auditID } = currentUnitOfWork()?.origin ?? {};
  const isOfBrowser = request?.url !== undefined && opensInBrowser.test(request.url);
  const userAgent = request?.headers['user-agent'];
  return {
    ...siteFact(),
    ...(auditID && { auditID }),
    ...(userAgent && { userAgent: userAgent.slice(0, 512) }),
    ...(isOfBrowser && network && { network }),
  };
}

/**
 * Counts a code or token that was presented again among the failed requests of its account: someone else
 * may have a copy.
 */
export function noteReuse(
  { policy: { authorizer } }: ProviderServices,
  { account, client }: { readonly account: string; readonly client: string },
): void {
  const { network } = currentUnitOfWork()?.origin ?? {};
  const facts = { path: '/oauth2/token', account, client, ...requestFacts(), network };
  const attributes = { caller: anonymous, action: 'provider', facts };
  const decision = authorizer.decide(attributes, 'change');
  if (isOnChange(decision)) decision.noteFailure({ outcome: 'Reused', account, client });
}

/** Returns the Sec-Fetch-Site fact of the current request, for policy. */
export function siteFact(): { site?: string } {
  const request = currentUnitOfWork()?.origin.request;
  const site = request && siteOf(request);
  return site ? { site } : {};
}

/** Returns the policy decision about sharing each of the scopes. */
export async function decideScopes(
  services: ProviderServices,
  name: string,
  client: string,
  scopes: readonly string[],
  signedIn: SignedIn,
): Promise<Map<string, Decision>> {
  const account = await accountObject(services, name);
  const decisions = new Map<string, Decision>();
  if (!account) return decisions;
  for (const scope of scopes) {
    const decision = await decideShare(services, account, client, scope, signedIn);
    if (!decision.allowed) await yieldToEventLoop(); // It may have been explained.
    decisions.set(scope, decision);
  }
  return decisions;
}

/**
 * Returns the refused scopes except `openid`: if that is refused, the whole sign-in is refused
 * before anything is issued.
 */
export const refusedScopes = (decisions: ReadonlyMap<string, Decision>): Set<string> =>
  new Set(
    [...decisions]
      .filter(([scope, { allowed }]) => !allowed && scope !== 'openid')
      .map(([scope]) => scope),
  );
