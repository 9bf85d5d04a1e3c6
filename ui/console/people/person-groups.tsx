import type { Account } from '../../api.js';
import { useCollection } from '../../base/api/collection.js';
import { membershipOf, type Group } from '../../base/group.js';
import { format, t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { Act } from '../base/act.js';
import { useIsAllowed } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { patchCommand } from '../base/kubectl.js';
import { A, Failure, Loading, Part } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { patchGroup, withoutMembers } from './group-members.js';
import { JoinForm } from './join-form.js';

function Membership({ kind, group, address }: { kind: Kind; group: Group; address: string }) {
  const mayPatch = useIsAllowed(kind, 'patch', group.metadata.name);
  const { displayName } = group.spec;
  const until = membershipOf(group, address)?.until;
  const patch = withoutMembers(group, [address]);
  return (
    <li>
      <A to={pathTo(kind.resource, group.metadata.name)}>
        <bdi>{displayName}</bdi>
      </A>{' '}
      {until && (
        <span class="hint">
          {format('console.people.until', { when: <Timestamp of={until} /> })}
        </span>
      )}
      {mayPatch && (
        <Act
          label={t('console.people.leave', { group: displayName })}
          command={patchCommand(kind, group.metadata.name, patch)}
          isDanger
          work={() => patchGroup(kind, group, patch)}
          done={t('console.people.left', { group: displayName })}
        >
          {t('console.people.leave.what')}
        </Act>
      )}
    </li>
  );
}

/** The Groups that have the address of an account, and those that it may join. */
export function Groups({ kind, account }: { kind: Kind; account: Account }) {
  const { items, failure, reload } = useCollection<Group>(kind.path);
  const mayPatch = useIsAllowed(kind, 'patch');
  const { address } = account.status.email;
  const own = items?.filter((group) => membershipOf(group, address)) ?? [];
  const others = items?.filter((group) => !membershipOf(group, address)) ?? [];
  return (
    <Part id="groups" title={t('console.people.groups')}>
      {failure && <Failure failure={failure} retry={reload} />}
      {!items && !failure && <Loading />}
      {items && own.length === 0 && <p>{t('console.people.groups.none')}</p>}
      {own.length > 0 && (
        <ul class="rows">
          {own.map((group) => (
            <Membership key={group.metadata.name} kind={kind} group={group} address={address} />
          ))}
        </ul>
      )}
      {mayPatch && others.length > 0 && (
        <JoinForm kind={kind} groups={others} addresses={[address]} />
      )}
    </Part>
  );
}
