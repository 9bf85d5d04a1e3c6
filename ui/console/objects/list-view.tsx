import { useState } from 'preact/hooks';
import { Button } from '../../base/button.js';
import { Status } from '../../base/status.js';
import { t } from '../../base/text/message.js';
import { useConsole } from '../base/console-context.js';
import { pluralOf, singularOf, useIsAllowed } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { Frame } from '../base/frame.js';
import { listCommand } from '../base/kubectl.js';
import { A, Age, English, Failure, Kubectl, Loading } from '../base/parts.js';
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
  const { document } = useConsole();
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
    <form
      class="search"
      role="search"
      method="post"
      onSubmit={(event) => {
        event.preventDefault();
        show(typed);
      }}
    >
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
      <div class="field">
        <label for="find">{t('console.search')}</label>
        <input
          id="find"
          type="search"
          autoComplete="off"
          autoCapitalize="none"
          spellcheck={false}
          value={typed.words}
          placeholder={typed.by === 'labels' ? 'app=notes' : undefined}
          onInput={({ currentTarget }) => change({ words: currentTarget.value })}
        />
      </div>
      {isSent && <Button submit>{t('console.search.go')}</Button>}
    </form>
  );
}

function Cell({ kind, column, row, i }: { kind: Kind; column: Column; row: Row; i: number }) {
  const { metadata } = row.object;
  const text = String(row.cells[i] ?? '');
  if (i === 0)
    return (
      <th scope="row">
        <A to={pathTo(kind.resource, metadata.name)}>
          <bdi dir="ltr">{text}</bdi>
        </A>
      </th>
    );
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
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it may scroll
    <div class="table" role="region" tabIndex={0} aria-label={pluralOf(kind)} lang="en">
      <table>
        <thead>
          <tr>
            {shown.map(({ column }) => (
              <th scope="col" title={column.description}>
                {column.name.replaceAll('-', ' ')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.object.metadata.uid}>
              {shown.map(({ column, i }) => (
                <Cell kind={kind} column={column} row={row} i={i} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** How many rows are shown and how many are not loaded, with the button that loads more. */
export function TableEnd({ table, count }: { table: LiveTable; count: number }) {
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

function Results({ kind, table, search }: { kind: Kind; table: LiveTable; search: Search }) {
  const { columns, rows, failure } = table;
  if (!rows || !columns)
    return failure ? <Failure failure={failure} retry={table.retry} /> : <Loading />;
  const words = search.by === 'text' ? search.words.toLowerCase() : '';
  const found = rows.filter(({ cells }) =>
    cells.some((cell) => String(cell).toLowerCase().includes(words)),
  );
  const isEmpty = found.length === 0;
  return (
    <>
      {failure && <Failure failure={failure} retry={table.retry} />}
      {isEmpty && (
        <p class="lead empty">{t(search.words ? 'console.notfound' : 'console.empty')}</p>
      )}
      {!isEmpty && <Rows kind={kind} columns={columns} rows={found} />}
      <TableEnd table={table} count={found.length} />
    </>
  );
}

/** The objects of a kind as the server's table, searched, paged and live. */
export function ListView({ kind, query }: { kind: Kind; query: URLSearchParams }) {
  const { document } = useConsole();
  const search = searchOf(query);
  const selectors = selectorsOf(search);
  const table = useTable(kind.path, selectors);
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
      <Results kind={kind} table={table} search={search} />
      <Kubectl command={listCommand(kind, selectors)} />
    </Frame>
  );
}
