import type { Account } from '../../api.js';
import { call } from '../../base/api/api.js';
import { useRead } from '../../base/api/use-read.js';
import { useConsole } from '../base/console-context.js';
import { kindOf } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { objectPath } from '../base/kubectl.js';
import { A } from '../base/parts.js';
import { pathTo } from '../base/route.js';

/** The address of a person, by the name of the account. */
function Address({ accounts, name }: { accounts: Kind; name: string }) {
  const { value: account } = useRead(
    () => call<Account>('GET', objectPath(accounts, name)),
    [accounts.path, name],
  );
  return (
    <A to={pathTo('people', name)}>
      <bdi dir="ltr">{account?.status.email.address ?? name}</bdi>
    </A>
  );
}

/** A person who asks: the address for those who may list accounts. */
export function Person({ name }: { name: string }) {
  const accounts = kindOf(useConsole().listed, 'Account');
  return accounts ? <Address accounts={accounts} name={name} /> : <bdi dir="ltr">{name}</bdi>;
}
