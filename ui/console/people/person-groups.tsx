import { useState } from 'preact/hooks';
import type { Account, ObjectMeta } from '../../api.js';
import { call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { useCollection } from '../../base/api/collection.js';
import { Field } from '../../base/field.js';
import { Form } from '../../base/form.js';
import { announce } from '../../base/live-region.js';
import { format, t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { Act } from '../base/act.js';
import { useIsAllowed } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { objectPath, patchCommand } from '../base/kubectl.js';
import { A, Failure, Kubectl, Loading, Part } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { useRequest } from '../base/use-request.js';

interface Group {
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly displayName: string;
    readonly members?: readonly string[];
    readonly temporaryMembers?: readonly { readonly email: string; readonly until: string }[];
  };
}

const isSame = (member: string, address: string): boolean =>
  member.toLowerCase() === address.toLowerCase();

/** Returns the membership of an address: undefined if none, or until when it is one, if it ends. */
function membershipOf({ spec }: Group, address: string): { until?: string } | undefined {
  if (spec.members?.some((member) => isSame(member, address))) return {};
  const until = spec.temporaryMembers?.find(({ email }) => isSame(email, address))?.until;
  return until !== undefined && Date.parse(until) > Date.now() ? { until } : undefined;
}

/** Returns the merge patch of the members of a Group, unless it was changed since. */
const patchOf = ({ metadata }: Group, spec: Partial<Group['spec']>): object => ({
  metadata: { resourceVersion: metadata.resourceVersion },
  spec,
});

const withMember = (group: Group, address: string): object =>
  patchOf(group, { members: [...(group.spec.members ?? []), address] });

const withoutMember = (group: Group, address: string): object => {
  const { members = [], temporaryMembers } = group.spec;
  return patchOf(group, {
    members: members.filter((member) => !isSame(member, address)),
    ...(temporaryMembers && {
      temporaryMembers: temporaryMembers.filter(({ email }) => !isSame(email, address)),
    }),
  });
};

const send = (kind: Kind, { metadata }: Group, patch: object): Promise<unknown> =>
  call('PATCH', objectPath(kind, metadata.name), patch);

function Membership({ kind, group, address }: { kind: Kind; group: Group; address: string }) {
  const mayPatch = useIsAllowed(kind, 'patch', group.metadata.name);
  const { displayName } = group.spec;
  const until = membershipOf(group, address)?.until;
  const patch = withoutMember(group, address);
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
          work={() => send(kind, group, patch)}
          done={t('console.people.left', { group: displayName })}
        >
          {t('console.people.leave.what')}
        </Act>
      )}
    </li>
  );
}

/** The choice of a Group that the person is to join. */
function Join({
  kind,
  groups,
  address,
}: {
  kind: Kind;
  groups: readonly Group[];
  address: string;
}) {
  const [name, setName] = useState('');
  const { busy, failure, run } = useRequest();
  const group = groups.find(({ metadata }) => metadata.name === name);
  const join = (joined: Group): Promise<boolean> =>
    run(async () => {
      await send(kind, joined, withMember(joined, address));
      setName('');
      announce(t('console.people.joined', { group: joined.spec.displayName }));
    });
  return (
    <Form
      look="search"
      onSubmit={() => {
        if (group) void join(group);
      }}
    >
      <Field
        id="group"
        label={t('console.people.join')}
        choices={[
          ['', t('console.people.choose')],
          ...groups.map(({ metadata, spec }) => [metadata.name, spec.displayName] as const),
        ]}
        value={name}
        onText={setName}
      />
      <Button submit busy={busy} disabled={!group}>
        {t('console.people.add')}
      </Button>
      {failure && <Failure failure={failure} isChange />}
      {group && <Kubectl command={patchCommand(kind, name, withMember(group, address))} />}
    </Form>
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
      {mayPatch && others.length > 0 && <Join kind={kind} groups={others} address={address} />}
    </Part>
  );
}
