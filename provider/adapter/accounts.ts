import { group } from '../../kinds/api-version.js';
import { Account } from '../../kinds/people/account/account.js';
import type { SignInFacts } from '../../kinds/people/account/policy-facts.js';
import { operators } from '../../kinds/people/group/group.js';
import type { OperatorPasskeyFacts } from '../../kinds/people/group/operator-passkeys.js';
import type { AccountCaller } from '../../kinds/signin/caller.js';
import { canonicalAddress } from '../../kinds/signin/email-address.js';
import type { OwnerReference } from '../../registry/kind.js';
import { ownerReference } from '../../registry/owner-reference.js';
import { fromTimestamp } from '../../registry/schema/timestamp.js';
import type { AccountObject, ProviderServices } from '../context/context.js';
import { requestState } from '../context/current-request.js';
import { withProviderErrors } from '../context/errors.js';
import { StateKey } from '../context/request-state.js';

/** The accounts that this request has read, by name. */
const accounts = new StateKey<Map<string, AccountObject | undefined>>();

/**
 * Returns the latest version of an Account that can sign in, read once a request; undefined for
 * disabled, deleted and absent accounts.
 */
export async function accountObject(
  services: ProviderServices,
  name: string,
): Promise<AccountObject | undefined> {
  const known = requestState().mapOf(accounts);
  if (known.has(name)) return known.get(name);
  const stored = await withProviderErrors(services.store.reader(Account).get(name));
  const account = stored && canSignIn(stored) ? stored : undefined;
  known.set(name, account);
  return account;
}

/**
 * Returns the owner reference of an account that this request has already read; reads nothing
 * itself.
 */
export function ownerReferencesOf(name: string): { ownerReferences?: OwnerReference[] } {
  const account = requestState().mapOf(accounts).get(name);
  return account ? { ownerReferences: [ownerReference(Account, account)] } : {};
}

/** Returns true if the account is neither disabled nor being deleted. */
export const canSignIn = (account: AccountObject): boolean =>
  !account.status.disabledTimestamp && !account.metadata.deletionTimestamp;

/** The facts about a sign-in that are known to a request. */
export interface SignedIn extends Partial<SignInFacts> {
  readonly session?: string;
}

/** Returns the account as a caller for policy, with its groups and the facts of its sign-in. */
export function accountCaller(
  { settings }: Pick<ProviderServices, 'settings'>,
  account: AccountObject,
  groups: readonly string[],
  signedIn: SignedIn & Partial<OperatorPasskeyFacts> & Pick<AccountCaller, 'expires'> = {},
): AccountCaller {
  const { authenticated } = signedIn;
  const { name } = account.metadata;
  const email = canonicalAddress(account.status.email.address);
  const recentSignIn =
    authenticated === undefined
      ? {}
      : { recentUntil: authenticated + settings.limits.recentSignIn / 1000 };
  return {
    type: 'Account',
    account: name,
    user: name,
    uid: name,
    owner: name,
    extra: { [`${group}/email`]: [email] },
    ...recentSignIn,
    email,
    groups,
    operator: groups.includes(operators),
    passkeys: account.status.passkeys,
    created: fromTimestamp(account.metadata.creationTimestamp),
    ...signedIn,
  };
}

/** Returns the account as a caller, with its current groups. */
export async function callerFor(
  services: ProviderServices,
  account: AccountObject,
  signedIn: SignedIn = {},
): Promise<AccountCaller> {
  const groups = await withProviderErrors(
    services.policy.groups.groupsOf(account.status.email.address),
  );
  return accountCaller(services, account, groups, {
    ...signedIn,
    ...(groups.includes(operators) &&
      (await withProviderErrors(services.policy.operatorPasskeys.currentFacts()))),
  });
}
