import type { Call, ObjectOf, Transaction } from '../../../registry/kind.js';
import { StatusError } from '../../../registry/status/status.js';
import { canonicalAddress } from '../../signin/email-address.js';
import { Account } from '../account/account.js';
import { Group, membersAt, operators } from './group.js';
import { checkedGroups } from './membership-index.js';

/**
 * Throws 409 unless a person who calls has still the account, the address and the Groups that the
 * request was authorized with. The commit checks what is read, so that of two people who take each
 * other's rights only one succeeds (docs/design/policy.md#rights-at-the-commit).
 */
export async function assertRights(tx: Transaction, call: Call): Promise<void> {
  const { caller } = call;
  if (caller.type !== 'Account') return;
  const account = await tx.get(Account, caller.account);
  if (addressOf(account) !== caller.email) throw lost();
  for (const name of checkedGroups(caller.groups ?? [])) {
    if (!isInGroup(name, await tx.get(Group, name), caller.email, call)) throw lost();
  }
}

/** Returns the canonical address of an account that can sign in; else undefined. */
export const addressOf = (account: ObjectOf<typeof Account> | undefined): string | undefined =>
  !account || account.status.disabledTimestamp || account.metadata.deletionTimestamp
    ? undefined
    : canonicalAddress(account.status.email.address);

/** Returns whether a Group has a canonical address as a member now. */
export const isInGroup = (
  name: string,
  group: ObjectOf<typeof Group> | undefined,
  email: string,
  { now, settings }: Pick<Call, 'now' | 'settings'>,
): boolean =>
  name === operators && !group?.spec.members.length
    ? settings.operators.includes(email)
    : group !== undefined && membersAt(group.spec, now).has(email);

const lost = (): StatusError =>
  new StatusError(
    'Conflict',
    'the groups or the account of the caller changed during the request; try again',
  );
