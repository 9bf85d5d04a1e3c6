import { fromTimestamp } from '../../../registry/schema/timestamp.js';
import type { Store } from '../../../registry/store/store.js';
import { Account } from '../account/account.js';
import { operators } from './group.js';
import type { Memberships } from './membership-index.js';
import type { Operator } from './operator.js';

/**
 * Returns the current operators: members of Group `operators` or, while it is empty, the addresses
 * in the settings. Leaves out accounts that are disabled or being deleted.
 */
export async function currentOperators(store: Store, groups: Memberships): Promise<Operator[]> {
  const accounts = store.reader(Account);
  const found = await Promise.all(
    (await groups.members(operators)).map(
      async ({ address, groups: memberOf }): Promise<Operator | undefined> => {
        const account = await accounts.byUnique('email', address);
        if (account?.status.disabledTimestamp || account?.metadata.deletionTimestamp) {
          return undefined;
        }
        return {
          domain: address.slice(address.lastIndexOf('@') + 1),
          groups: memberOf,
          ...(account
            ? {
                account: account.metadata.name,
                created: fromTimestamp(account.metadata.creationTimestamp),
                hasPasskey: account.status.passkeys > 0,
              }
            : { isNew: true }),
        };
      },
    ),
  );
  return found.filter((operator) => operator !== undefined);
}
