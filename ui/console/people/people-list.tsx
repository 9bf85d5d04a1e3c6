import { useMemo, useState } from 'preact/hooks';
import { Button } from '../../base/button.js';
import { Field } from '../../base/field.js';
import { Form } from '../../base/form.js';
import { useLazy } from '../../base/api/lazy.js';
import { t } from '../../base/text/message.js';
import { accessChunk } from '../access/access-chunk.js';
import { useConsole } from '../base/console-context.js';
import { kindOf, useIsAllowed } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { listCommand } from '../base/kubectl.js';
import { Results } from '../objects/list-view.js';
import { A, Age, Kubectl, searchField, Table } from '../base/parts.js';
import { navigate, pathTo } from '../base/route.js';
import { useTable, type LiveTable, type Row } from '../base/table.js';

/** The characters of names that are generated, as Kubernetes chooses them: none spells a word. */
const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

const randomSuffix = (): string =>
  Array.from(
    crypto.getRandomValues(new Uint32Array(5)),
    (number) => nameAlphabet[number % nameAlphabet.length],
  ).join('');

/** The service finds people by the beginning of each word. */
const selectorsOf = (words: string): Record<string, string> => {
  const searches = words.split(/[\s,=!]+/).filter(Boolean);
  return searches.length === 0
    ? {}
    : { fieldSelector: searches.map((word) => `search=${word}`).join(',') };
};

function SearchForm({ words }: { words: string }) {
  const [typed, setTyped] = useState(words);
  const show = (next: string): void =>
    navigate(pathTo('people') + (next && `?${new URLSearchParams({ find: next })}`), true);
  return (
    <Form look="search" role="search" onSubmit={() => show(typed.trim())}>
      <Field
        {...searchField}
        label={t('console.people.find')}
        dir="ltr"
        value={typed}
        onText={(text) => {
          setTyped(text);
          if (!text) show('');
        }}
      />
      <Button submit>{t('console.search.go')}</Button>
    </Form>
  );
}

/** Returns the cell of a column, which the server names. */
const cellOf = ({ columns = [] }: LiveTable, row: Row, column: string): unknown =>
  row.cells[columns.findIndex(({ name }) => name === column)];

function PersonRow({ table, row }: { table: LiveTable; row: Row }) {
  const { name, creationTimestamp, deletionTimestamp } = row.object.metadata;
  const isDisabled = cellOf(table, row, 'Disabled') === true;
  const named = cellOf(table, row, 'Display-Name') ?? '<none>';
  const displayName = named === '<none>' ? undefined : String(named);
  const address = <bdi dir="ltr">{String(cellOf(table, row, 'Email'))}</bdi>;
  return (
    <tr>
      <th scope="row">
        <A to={pathTo('people', name)}>{displayName ? <bdi>{displayName}</bdi> : address}</A>{' '}
        {isDisabled && <span class="word sensitive">{t('console.people.disabled')}</span>}
        {deletionTimestamp && <span class="word sensitive">{t('console.people.deleting')}</span>}
        {displayName && <div class="hint">{address}</div>}
      </th>
      <td>{String(cellOf(table, row, 'Passkeys'))}</td>
      <td>
        <Age of={creationTimestamp} />
      </td>
    </tr>
  );
}

function PeopleTable({ table, rows }: { table: LiveTable; rows: readonly Row[] }) {
  return (
    <Table
      label={t('console.people')}
      columns={[t('console.people.find'), t('console.people.passkeys'), t('console.people.added')]}
    >
      {rows.map((row) => (
        <PersonRow key={row.object.metadata.uid} table={table} row={row} />
      ))}
    </Table>
  );
}

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
          {t('console.people.invite')}
        </A>
      )}
      {mayCreate && (
        <A to={pathTo('people', '-', 'new')} look="button">
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

/** The accounts, found by address, and the ways to add people. */
export function PeopleList({ accounts, query }: { accounts: Kind; query: URLSearchParams }) {
  const requests = kindOf(useConsole().listed, 'AccessRequest');
  const words = query.get('find') ?? '';
  const selectors = selectorsOf(words);
  const table = useTable(accounts.path, selectors, words ? undefined : 'spec.displayName');
  return (
    <Frame title="console.people" part="people" actions={<Links accounts={accounts} />}>
      <p class="lead">{t('console.people.lead')}</p>
      {requests && <Waiting requests={requests} />}
      <SearchForm words={words} />
      <Results
        table={table}
        empty={words ? 'console.people.notfound' : 'console.people.none'}
        show={(rows) => <PeopleTable table={table} rows={rows} />}
      />
      <Kubectl command={listCommand(accounts, selectors)} />
    </Frame>
  );
}
