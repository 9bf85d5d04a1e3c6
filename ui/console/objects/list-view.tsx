import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../base/button.js';
import { Field } from '../../base/field.js';
import { Form } from '../../base/form.js';
import { Status } from '../../base/status.js';
import { t } from '../../base/text/message.js';
import type { MessageID } from '../../messages/catalog.js';
import { useDocument } from '../base/console-context.js';
import { pluralOf, singularOf, useIsAllowed } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { Frame } from '../base/frame.js';
import { listCommand } from '../base/kubectl.js';
import { A, Age, English, Failure, Kubectl, Loading, searchField, Table } from '../base/parts.js';
import { navigate, pathTo } from '../base/route.js';
import { objectSchema, selectableFields } from '../base/schema.js';
import { useTable, type Column, type LiveTable, type Row } from '../base/table.js';

interface Search {
  /** A field of field selectors, `labels`, or `text` for any column of the loaded rows. */
  readonly by: string;
  readonly words: string;
}

/** Returns the selectors that the server applies. */
function selectorsOf({ by, words }: Search): Record<string, string> {
  if (!words || by === 'text') return {};
  return by === 'labels' ? { labelSelector: words } : { fieldSelector: `${by}=${words}` };
}

const searchOf = (query: URLSearchParams): Search => ({
  by: query.get('by') ?? 'text',
  words: query.get('find') ?? '',
});

function SearchForm({ kind, search }: { kind: Kind; search: Search }) {
  const document = useDocument();
  const [typed, setTyped] = useState(search);
  const show = (next: Search): void => {
    const query = next.words ? `?${new URLSearchParams({ by: next.by, find: next.words })}` : '';
    navigate(pathTo(kind.resource) + query, true);
  };
  const change = (part: Partial<Search>): void => {
    const next = { ...typed, ...part };
    setTyped(next);
    if (next.by === 'text' || !next.words) show(next);
  };
  const isSent = typed.by !== 'text';
  return (
    <Form look="search" role="search" onSubmit={() => show(typed)}>
      <div class="field">
        <label for="by">{t('console.search.by')}</label>
        <select
          id="by"
          value={typed.by}
          onInput={({ currentTarget }) => change({ by: currentTarget.value })}
        >
          <option value="text">{t('console.search.text')}</option>
          <option value="metadata.name">{t('console.search.name')}</option>
          {selectableFields(document, kind).map((field) => (
            <option value={field} lang="en">
              {field}
            </option>
          ))}
          <option value="labels">{t('console.search.labels')}</option>
        </select>
      </div>
      <Field
        {...searchField}
        label={t('console.search')}
        value={typed.words}
        placeholder={typed.by === 'labels' ? 'app=notes' : undefined}
        onText={(words) => change({ words })}
      />
      {isSent && <Button submit>{t('console.search.go')}</Button>}
    </Form>
  );
}

function Cell({ kind, column, row, i }: { kind: Kind; column: Column; row: Row; i: number }) {
  const { metadata } = row.object;
  const text = String(row.cells[i] ?? '');
  if (i === 0) {
    return (
      <th scope="row">
        <A to={pathTo(kind.resource, metadata.name)}>
          <bdi dir="ltr">{text}</bdi>
        </A>
      </th>
    );
  }
  return (
    <td data-column={column.name}>
      {column.name === 'Age' ? <Age of={metadata.creationTimestamp} /> : <bdi>{text}</bdi>}
    </td>
  );
}

function Rows({
  kind,
  columns,
  rows,
}: {
  kind: Kind;
  columns: readonly Column[];
  rows: readonly Row[];
}) {
  const shown = columns
    .map((column, i) => ({ column, i }))
    .filter(({ column }) => !column.priority);
  return (
    <Table
      label={pluralOf(kind)}
      columns={shown.map(({ column }) => column.name.replaceAll('-', ' '))}
      descriptions={shown.map(({ column }) => column.description)}
      lang="en"
    >
      {rows.map((row) => (
        <tr key={row.object.metadata.uid}>
          {shown.map(({ column, i }) => (
            <Cell kind={kind} column={column} row={row} i={i} />
          ))}
        </tr>
      ))}
    </Table>
  );
}

/** How many rows are shown and how many are not loaded, with the button that loads more. */
function TableEnd({ table, count }: { table: LiveTable; count: number }) {
  const { isComplete, remaining } = table;
  return (
    <>
      <Status look="hint count">
        {t('console.shown', { count })}
        {!isComplete && ` ${t('console.more.rest', { count: remaining ?? 0 })}`}
      </Status>
      {!isComplete && (
        <Button busy={table.busy} onPress={() => void table.more()}>
          {t('console.more')}
        </Button>
      )}
    </>
  );
}

interface ResultsProps {
  table: LiveTable;
  /** Which rows are shown; all unless set. */
  matches?: (row: Row) => boolean;
  /** Shown if no row matches. */
  empty: MessageID;
  /** Shows the rows that match. */
  show: (rows: readonly Row[]) => ComponentChildren;
}

/** The rows of a table that match, or why there are none. */
export function Results({ table, matches = () => true, empty, show }: ResultsProps) {
  const { rows, failure } = table;
  if (!rows) return failure ? <Failure failure={failure} retry={table.retry} /> : <Loading />;
  const found = rows.filter(matches);
  return (
    <>
      {failure && <Failure failure={failure} retry={table.retry} />}
      {found.length > 0 ? show(found) : <p class="lead empty">{t(empty)}</p>}
      <TableEnd table={table} count={found.length} />
    </>
  );
}

/** The objects of a kind as the server's table, searched, paged and live. */
export function ListView({ kind, query }: { kind: Kind; query: URLSearchParams }) {
  const document = useDocument();
  const search = searchOf(query);
  const selectors = selectorsOf(search);
  const table = useTable(kind.path, selectors);
  const words = search.by === 'text' ? search.words.toLowerCase() : '';
  const mayCreate = useIsAllowed(kind, 'create');
  const name = pluralOf(kind);
  return (
    <Frame
      title="console.list.title"
      values={{ kind: name }}
      heading={<English>{name}</English>}
      kind={kind}
      actions={
        mayCreate && (
          <A to={pathTo(kind.resource, '-', 'new')} look="button main">
            {t('console.new', { kind: singularOf(kind) })}
          </A>
        )
      }
    >
      <p class="lead">
        <English>{objectSchema(document, kind).description}</English>
      </p>
      <SearchForm kind={kind} search={search} />
      <Results
        table={table}
        matches={({ cells }) => cells.some((cell) => String(cell).toLowerCase().includes(words))}
        empty={search.words ? 'console.notfound' : 'console.empty'}
        show={(rows) => <Rows kind={kind} columns={table.columns ?? []} rows={rows} />}
      />
      <Kubectl command={listCommand(kind, selectors)} />
    </Frame>
  );
}
