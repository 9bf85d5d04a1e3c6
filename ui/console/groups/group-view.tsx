import { useEffect, useRef, useState } from 'preact/hooks';
import { Face } from '../../base/frame/app-page.js';
import { Icon } from '../../base/frame/icon.js';
import { membershipOf, type Group, type TemporaryMember } from '../../base/group.js';
import { now } from '../../base/api/clock.js';
import { Status } from '../../base/status.js';
import { addMessages } from '../../base/text/i18n.js';
import { format, t, Ltr } from '../../base/text/message.js';
import groups from '../../messages/en/groups.json';
import people from '../../messages/en/people.json';
import { Act } from '../base/act.js';
import { useConsole } from '../base/console-context.js';
import { kindOf, useIsAllowed } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { getCommand, patchCommand } from '../base/kubectl.js';
import { A, Day, Failure, Kubectl, Loading } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import type { LiveTable, Row } from '../base/table.js';
import { useObject } from '../base/use-object.js';
import { findPeople } from '../people/find-people.js';
import { useDisplayNames } from '../activity/decision-names.js';
import type { DataColumn } from '../table/column.js';
import { ObjectTable } from '../table/object-table.js';
import { AddPeople } from './add-people.js';
import { patchGroup, withoutMembers } from '../people/group-members.js';
import { GroupOpens } from './group-opens.js';

addMessages({ ...groups, ...people });

/** An account of a member: its name, and that of the person. */
interface Known {
  readonly account: string;
  readonly displayName: string | undefined;
}

/** Someone in the group; without `until` for good. */
type Member = Pick<TemporaryMember, 'email'> & Partial<TemporaryMember>;

const membersOf = ({ spec }: Group): Member[] => [
  ...(spec.members ?? []).map((email) => ({ email })),
  ...(spec.temporaryMembers ?? []),
];

const dayMs = 86_400_000;

/** When a membership ends: marked in its last week, and after it. */
function Until({ until }: { until: string | undefined }) {
  if (!until) return <span class="soft">{t('groups.noend')}</span>;
  const left = Date.parse(until) - now();
  if (left < 0) {
    return <span class="soft">{format('groups.ended', { when: <Day of={until} /> })}</span>;
  }
  return left < 7 * dayMs ? (
    <span class="state warn square">
      <Day of={until} />
    </span>
  ) : (
    <Day of={until} />
  );
}

interface PersonProps {
  email: string;
  known: Known | undefined;
  /** Reads the account once the row is in view: a group may have a thousand members. */
  onSeen: (email: string) => void;
}

function Person({ email, known, onSeen }: PersonProps) {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) return;
      observer.disconnect();
      onSeen(email);
    });
    observer.observe(place.current!);
    return () => observer.disconnect();
  }, []);
  return (
    <span class="who" ref={place}>
      <Face name={known?.displayName ?? email} />
      <span>
        {known?.displayName && <bdi>{known.displayName}</bdi>}
        <Ltr of={email} />
      </span>
    </span>
  );
}

/** The accounts of members that were in view, and what reads another. */
function useKnown(accounts: Kind | undefined) {
  const [known, setKnown] = useState<ReadonlyMap<string, Known>>(new Map());
  const see = (email: string): void => {
    if (!accounts) return;
    void findPeople(accounts, email).then(
      ([found]) => {
        if (!found) return;
        const { metadata, spec } = found;
        const entry = { account: metadata.name, displayName: spec.displayName };
        setKnown((before) => new Map(before).set(email, entry));
      },
      () => undefined, // the address alone is shown
    );
  };
  return { known, see };
}

interface TableProps {
  kind: Kind;
  group: Group;
  query: URLSearchParams;
  accounts: Kind | undefined;
  mayPatch: boolean;
}

/** The columns of members. */
function columnsOf(
  memberOf: (row: Row) => Member,
  { known, see }: ReturnType<typeof useKnown>,
): DataColumn[] {
  return [
    {
      id: 'name',
      title: t('console.people.name'),
      text: (row) => known.get(memberOf(row).email)?.displayName ?? memberOf(row).email,
      cell: (row) => {
        const { email } = memberOf(row);
        return <Person email={email} known={known.get(email)} onSeen={see} />;
      },
    },
    {
      id: 'address',
      title: t('console.people.address'),
      text: (row) => memberOf(row).email,
      isExtra: true,
    },
    {
      id: 'until',
      title: t('groups.until.field'),
      text: (row) => memberOf(row).until ?? '',
      cell: (row) => <Until until={memberOf(row).until} />,
    },
    {
      id: 'reason',
      title: t('groups.reason'),
      text: (row) => memberOf(row).reason ?? '',
      isSecondary: true,
    },
    {
      id: 'request',
      title: t('groups.addedby'),
      text: (row) => memberOf(row).accessRequest ?? '',
      cell: (row) => {
        const { accessRequest } = memberOf(row);
        return accessRequest ? (
          <A to={pathTo('accessrequests', accessRequest)}>{t('groups.request')}</A>
        ) : (
          ''
        );
      },
      isSecondary: true,
    },
  ];
}

function Members({ kind, group, query, accounts, mayPatch }: TableProps) {
  const people = useKnown(accounts);
  const members = new Map(membersOf(group).map((member) => [member.email, member]));
  const columns = columnsOf(({ object }) => members.get(object.metadata.name)!, people);
  const words = (query.get('find') ?? '').toLowerCase();
  const { metadata } = group;
  const table: LiveTable = {
    rows: [...members.keys()].sort().map((email) => ({
      cells: [],
      object: { metadata: { ...metadata, name: email, uid: email } },
    })),
    isComplete: true,
    failure: undefined,
    busy: false,
    more: () => Promise.resolve(),
    retry: () => undefined,
  };
  const remove = (addresses: readonly string[]) => {
    const patch = withoutMembers(group, addresses);
    return (
      <Act
        label={t('groups.remove')}
        command={patchCommand(kind, metadata.name, patch)}
        isDanger
        work={() => patchGroup(kind, group, patch)}
        done={t('groups.removed', { count: addresses.length })}
      >
        {t('groups.remove.what', { count: addresses.length, group: group.spec.displayName })}
      </Act>
    );
  };
  return (
    <ObjectTable
      label={t('groups.members')}
      resource={`group-${metadata.name}`}
      path={pathTo(kind.resource, metadata.name)}
      query={query}
      table={table}
      columns={columns}
      searchLabel={t('console.people.find')}
      choices={[]}
      matches={(row) => columns.some((column) => column.text(row).toLowerCase().includes(words))}
      to={({ object }) => {
        const account = people.known.get(object.metadata.name)?.account;
        const find = new URLSearchParams({ find: object.metadata.name });
        return account ? pathTo('people', account) : `${pathTo('people')}?${find}`;
      }}
      empty={<p>{t('groups.none')}</p>}
      notFound="console.notfound"
      acts={mayPatch ? remove : undefined}
    />
  );
}

/** One line: how many members, and how many of them for a while. */
function Facts({ group }: { group: Group }) {
  const current = membersOf(group).filter(({ email }) => membershipOf(group, email));
  const ending = current.filter(({ until }) => until).length;
  return (
    <p class="fact-line">
      <bdi dir="ltr">{group.metadata.name}</bdi>
      <span>{t('groups.count', { count: current.length })}</span>
      {ending > 0 && <span>{t('groups.ending', { count: ending })}</span>}
    </p>
  );
}

function Links({ kind, name, mayPatch }: { kind: Kind; name: string; mayPatch: boolean }) {
  const mayDelete = useIsAllowed(kind, 'delete', name);
  const path = pathTo(kind.resource, name);
  return (
    <>
      <A to={`${path}?view=fields`} look="button">
        {t('console.people.fields')}
      </A>
      {mayPatch && (
        <A to={`${path}/edit`} look="button">
          {t('groups.rename')}
        </A>
      )}
      {mayDelete && (
        <A to={`${path}/delete`} look="button danger">
          {t('console.delete.link')}
        </A>
      )}
    </>
  );
}

interface Props {
  kind: Kind;
  name: string;
  query: URLSearchParams;
}

/** A group: its members, those to be added, and what it opens. */
export function GroupView({ kind, name, query }: Props) {
  const { items, failure, reload, object: group } = useObject<Group>(kind, name);
  const accounts = kindOf(useConsole().listed, 'Account');
  const mayPatch = useIsAllowed(kind, 'patch', name);
  const names = useDisplayNames();
  const title = group?.spec.displayName ?? name;
  return (
    <Frame
      title="groups.title"
      values={{ name: title }}
      heading={
        <span class="who big">
          <span class="face">
            <Icon of="layers" />
          </span>
          <bdi>{title}</bdi>
        </span>
      }
      kind={kind}
      actions={group && <Links kind={kind} name={name} mayPatch={mayPatch} />}
    >
      {failure && <Failure failure={failure} retry={reload} />}
      {!items && !failure && <Loading />}
      {items && !group && <Status look="notice warn">{t('console.gone')}</Status>}
      {group && (
        <>
          <Facts group={group} />
          <div class="beside">
            <div>
              <Members
                kind={kind}
                group={group}
                query={query}
                accounts={accounts}
                mayPatch={mayPatch}
              />
            </div>
            <aside class="pane" aria-label={t('groups.add')}>
              {mayPatch && accounts && <AddPeople kind={kind} accounts={accounts} group={group} />}
              <GroupOpens group={name} names={names} />
            </aside>
          </div>
        </>
      )}
      <Kubectl command={getCommand(kind, name)} />
    </Frame>
  );
}
