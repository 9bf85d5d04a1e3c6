import type { Store } from '../../registry/store.js';
import { Account } from '../account/account.js';
import { operators } from './group.js';
import type { Memberships } from './membership-index.js';
import type { Operator } from './operator.js';

/**
 * Who runs the service at this moment, as policy sees them: members of Group `operators` or, while
 * it lists no one, those that the settings name; an account that no one can sign in to is none.
 */
export async function operatorsNow(store: Store, groups: Memberships): Promise<Operator[]> {
  const accounts = store.reader(Account);
  const all = await Promise.all(
    (await groups.members(operators)).map(
      async ({ address, groups: held }): Promise<Operator | undefined> => {
        const account = await accounts.byUnique('email', address);
        if (account?.status.disabledTimestamp || account?.metadata.deletionTimestamp)
          return undefined;
        return {
          domain: address.slice(address.lastIndexOf('@') + 1),
          groups: held,
          ...(account
            ? { account: account.metadata.name, hasPasskey: account.status.passkeys > 0 }
            : { isNew: true }),
        };
      },
    ),
  );
  return all.filter((one) => one !== undefined);
}
