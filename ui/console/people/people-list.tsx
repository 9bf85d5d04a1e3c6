import { useMemo } from 'preact/hooks';
import { Face } from '../../base/frame/app-page.js';
import { Icon } from '../../base/frame/icon.js';
import type { Group } from '../../base/group.js';
import { useLazy } from '../../base/api/lazy.js';
import { t } from '../../base/text/message.js';
import { accessChunk } from '../access/access-chunk.js';
import { useConsole } from '../base/console-context.js';
import { kindOf, useIsAllowed } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { listCommand } from '../base/kubectl.js';
import { A, Day, Kubectl } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { useTable, type LiveTable, type Row } from '../base/table.js';
import type { DataColumn } from '../table/column.js';
import { ObjectTable } from '../table/object-table.js';
import { sortOf } from '../table/sort.js';
import { GroupTags, namesOfGroups, useGroups } from './group-tags.js';
import { PeopleActs } from './people-acts.js';
import { selectorsOf } from './find-people.js';
import { PersonState } from './person-state.js';

/** The characters of names that are generated, as Kubernetes chooses them: none spells a word. */
const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

const randomSuffix = (): string =>
  Array.from(
    crypto.getRandomValues(new Uint32Array(5)),
    (number) => nameAlphabet[number % nameAlphabet.length],
  ).join('');

/** Returns what the server says in a column, or undefined if there is none. */
function cellOf({ columns = [] }: LiveTable, row: Row, column: string): string | undefined {
  const cell = row.cells[columns.findIndex(({ name }) => name === column)];
  return cell === undefined || cell === '<none>' ? undefined : String(cell);
}

function Person({ table, row }: { table: LiveTable; row: Row }) {
  const displayName = cellOf(table, row, 'Display-Name');
  const address = cellOf(table, row, 'Email') ?? '';
  return (
    <span class="who">
      <Face name={displayName ?? address} />
      <span>
        {displayName && <bdi>{displayName}</bdi>}
        <bdi dir="ltr">{address}</bdi>
      </span>
    </span>
  );
}

const LastSignIn = ({ at }: { at: string | undefined }) =>
  at ? <Day of={at} /> : <span class="soft">{t('console.people.never.cell')}</span>;

/** The orders in which the service lists people, by column. */
const orders: ReadonlyMap<string, string> = new Map([
  ['name', 'spec.displayName'],
  ['address', 'status.email.address'],
  ['last', 'status.lastSignInTimestamp'],
]);

/** The groups of each person, from all groups. */
function groupColumn(table: LiveTable, groups: readonly Group[]): DataColumn {
  const namesOf = (row: Row): string[] => namesOfGroups(groups, cellOf(table, row, 'Email') ?? '');
  return {
    id: 'groups',
    title: t('console.people.groups'),
    text: (row) => namesOf(row).join(', '),
    cell: (row) => <GroupTags names={namesOf(row)} />,
    isSecondary: true,
  };
}

/** The columns of people. */
const columnsOf = (table: LiveTable, groups: readonly Group[] | undefined): DataColumn[] => [
  {
    id: 'name',
    title: t('console.people.name'),
    text: (row) => cellOf(table, row, 'Display-Name') ?? cellOf(table, row, 'Email') ?? '',
    cell: (row) => <Person table={table} row={row} />,
    orderBy: orders.get('name'),
  },
  {
    id: 'address',
    title: t('console.people.address'),
    text: (row) => cellOf(table, row, 'Email') ?? '',
    orderBy: orders.get('address'),
    isExtra: true,
  },
  ...(groups ? [groupColumn(table, groups)] : []),
  {
    id: 'passkeys',
    title: t('console.people.passkeys'),
    text: (row) => cellOf(table, row, 'Passkeys') ?? '',
    isNumber: true,
    isSecondary: true,
  },
  {
    id: 'last',
    title: t('console.people.last'),
    text: (row) => cellOf(table, row, 'Last-Sign-In') ?? '',
    cell: (row) => <LastSignIn at={cellOf(table, row, 'Last-Sign-In')} />,
    orderBy: orders.get('last'),
    isNewestFirst: true,
    isSecondary: true,
  },
  {
    id: 'state',
    title: t('console.people.state'),
    text: (row) => (cellOf(table, row, 'Disabled') === 'true' ? 'disabled' : 'active'),
    cell: (row) => (
      <PersonState
        isDeleting={row.object.metadata.deletionTimestamp !== undefined}
        isDisabled={cellOf(table, row, 'Disabled') === 'true'}
      />
    ),
  },
  {
    id: 'added',
    title: t('console.people.added'),
    text: ({ object }) => object.metadata.creationTimestamp,
    cell: ({ object }) => <Day of={object.metadata.creationTimestamp} />,
    isSecondary: true,
  },
];

function Links({ accounts }: { accounts: Kind }) {
  const { kinds } = useConsole();
  const invitations = kindOf(kinds, 'Invitation') ?? accounts;
  const invitationName = useMemo(() => `invitation-${randomSuffix()}`, []);
  const mayInvite = useIsAllowed(invitations, 'create');
  const mayCreate = useIsAllowed(accounts, 'create');
  return (
    <>
      {mayInvite && invitations !== accounts && (
        <A
          to={`${pathTo(invitations.resource, '-', 'new')}?name=${invitationName}`}
          look="button main"
        >
          <Icon of="user-plus" />
          {t('console.people.invite')}
        </A>
      )}
      {mayCreate && (
        <A to={pathTo('people', '-', 'new')} look="button">
          <Icon of="upload" />
          {t('console.people.import')}
        </A>
      )}
    </>
  );
}

/** The requests for access that wait, for those who may list them. */
function Waiting({ requests }: { requests: Kind }) {
  const { loaded } = useLazy(accessChunk);
  return loaded ? <loaded.WaitingRequests kind={requests} /> : null;
}

/** Everyone with an account, found by name or address, and the ways to add people. */
export function PeopleList({ accounts, query }: { accounts: Kind; query: URLSearchParams }) {
  const { listed } = useConsole();
  const requests = kindOf(listed, 'AccessRequest');
  const { groups, reload } = useGroups(kindOf(listed, 'Group'));
  const words = query.get('find') ?? '';
  const selectors = selectorsOf(words);
  const order = orders.get(sortOf(query)?.id ?? 'name');
  const table = useTable(accounts.path, selectors, words ? undefined : order);
  const addressOf = (name: string): string => {
    const row = table.rows?.find(({ object }) => object.metadata.name === name);
    return (row && cellOf(table, row, 'Email')) ?? name;
  };
  return (
    <Frame title="console.people" part="people" actions={<Links accounts={accounts} />}>
      {requests && <Waiting requests={requests} />}
      <ObjectTable
        label={t('console.people')}
        resource="people"
        path={pathTo('people')}
        query={query}
        table={table}
        columns={columnsOf(table, groups)}
        searchLabel={t('console.people.find')}
        choices={[]}
        usualSort={words ? undefined : 'name'}
        to={({ object }) => pathTo('people', object.metadata.name)}
        empty={<p>{t('console.people.none')}</p>}
        notFound="console.people.notfound"
        acts={(names) => (
          <PeopleActs
            accounts={accounts}
            names={names}
            addressOf={addressOf}
            groups={groups}
            reloadGroups={reload}
          />
        )}
      />
      <Kubectl command={listCommand(accounts, selectors)} />
    </Frame>
  );
}
