import { Account } from '../../kinds/account/account.js';
import { canonicalAddress } from '../../kinds/signin/email-address.js';
import { operators } from '../../kinds/group/group.js';
import type { OperatorsHave } from '../../kinds/group/operator-passkeys.js';
import type { AccountCaller, OwnerReference } from '../../registry/kind.js';
import { ownerReference } from '../../registry/transaction.js';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import type { AccountObject, ProviderServices } from '../context/context.js';
import { withProviderErrors } from '../context/errors.js';

/**
 * An Account that can sign in, at its latest, read once a request; undefined for disabled, ending
 * and absent ones.
 */
export async function accountObject(
  services: ProviderServices,
  name: string,
): Promise<AccountObject | undefined> {
  const memo = currentUnitOfWork()?.memo;
  const key = `account ${name}`;
  if (memo?.has(key)) return memo.get(key) as AccountObject | undefined;
  const found = await withProviderErrors(services.store.reader(Account).get(name));
  const account = found && isAlive(found) ? found : undefined;
  memo?.set(key, account);
  return account;
}

/**
 * The owner of what is made for an account, where this request has read it already: nothing is read
 * for it.
 */
export function ownedBy(name: string): { ownerReferences?: OwnerReference[] } {
  const account = currentUnitOfWork()?.memo.get(`account ${name}`) as AccountObject | undefined;
  return account ? { ownerReferences: [ownerReference(Account, account)] } : {};
}

/** Whether someone can sign in to it. */
export const isAlive = (account: AccountObject): boolean =>
  !account.status.disabledTimestamp && !account.metadata.deletionTimestamp;

/** The domain of its address, which is all that policy learns of it. */
export const domainOf = (account: AccountObject): string =>
  account.status.email.address.toLowerCase().split('@')[1] ?? '';

/** What is known of someone's sign-in. */
export interface SignedIn {
  readonly session?: string;
  readonly authenticated?: number;
  readonly methods?: readonly string[];
  readonly assurance?: string;
}

/**
 * How an Account that is in these groups stands before policy, with what is known of its sign-in.
 */
export function accountCaller(
  { settings }: Pick<ProviderServices, 'settings'>,
  account: AccountObject,
  groups: readonly string[],
  signedIn: SignedIn & Partial<OperatorsHave> = {},
): AccountCaller {
  const { authenticated } = signedIn;
  const recent =
    authenticated === undefined
      ? {}
      : { recentUntil: authenticated + settings.limits.recentSignIn / 1000 };
  return {
    type: 'Account',
    account: account.metadata.name,
    ...recent,
    email: canonicalAddress(account.status.email.address),
    groups,
    operator: groups.includes(operators),
    passkeys: account.status.passkeys,
    ...signedIn,
  };
}

/** The same with its groups as they are now. */
export async function callerFor(
  services: ProviderServices,
  account: AccountObject,
  signedIn: SignedIn = {},
): Promise<AccountCaller> {
  const groups = await withProviderErrors(services.groups.of(account.status.email.address));
  return accountCaller(services, account, groups, {
    ...signedIn,
    ...(groups.includes(operators) && (await withProviderErrors(services.operatorPasskeys.of()))),
  });
}
