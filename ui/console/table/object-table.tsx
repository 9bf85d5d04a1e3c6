import type { ComponentChildren } from 'preact';
import { Button } from '../../base/button.js';
import { Icon } from '../../base/frame/icon.js';
import { Status } from '../../base/status.js';
import { t } from '../../base/text/message.js';
import type { MessageID } from '../../messages/catalog.js';
import { Failure } from '../base/parts.js';
import { navigate } from '../base/route.js';
import type { LiveTable, Row } from '../base/table.js';
import { saveCSV } from './csv.js';
import type { DataColumn } from './column.js';
import { DataTable } from './data-table.js';
import { SelectionBar, useSelection } from './selection.js';
import { nextSort, sortOf } from './sort.js';
import { AddFilter, Chips, ColumnMenu, RowCount, SearchBox } from './table-tools.js';
import { anyValue, filtersIn, type Filter, type FilterChoice } from './filter.js';
import { useColumns, type ChosenColumns } from './use-columns.js';

interface Props {
  /** The plural of the kind, which names the table and the file of an export. */
  label: string;
  resource: string;
  /** The address of the view, without its query. */
  path: string;
  query: URLSearchParams;
  table: LiveTable;
  columns: readonly DataColumn[];
  lang?: string;
  searchLabel: string;
  /** The conditions that can be added. */
  choices: readonly FilterChoice[];
  /** The column by which rows are ordered unless the address says otherwise. */
  usualSort?: string | undefined;
  /** Which of the loaded rows are shown; all unless set. */
  matches?: (row: Row) => boolean;
  to: (row: Row) => string;
  /** The object that is open beside the table. */
  current?: string | undefined;
  /** Shown if there is nothing at all. */
  empty: ComponentChildren;
  /** Said if nothing matches. */
  notFound: MessageID;
  /** What can be done with the selected objects; absent if nothing can. */
  acts?: ((names: readonly string[]) => ComponentChildren) | undefined;
}

/** Returns a function that shows the same view with another query. */
const queryChange =
  (path: string, query: URLSearchParams) =>
  (changes: Readonly<Record<string, string | undefined>>): void => {
    const next = new URLSearchParams(query);
    for (const [name, value] of Object.entries(changes)) {
      if (value) next.set(name, value);
      else next.delete(name);
    }
    navigate(next.size > 0 ? `${path}?${next}` : path, true);
  };

/** Lines where rows will be; they appear when loading takes long, and move nothing. */
const Bones = () => (
  <div class="bones" role="progressbar" aria-label={t('working')}>
    {Array.from({ length: 8 }, (_, i) => (
      <span key={i} />
    ))}
  </div>
);

interface ToolsProps
  extends Pick<Props, 'query' | 'table' | 'columns' | 'choices' | 'searchLabel'> {
  filters: readonly Filter[];
  chosen: ChosenColumns;
  count: number;
  change: (changes: Readonly<Record<string, string | undefined>>) => void;
  save: () => void;
}

/** What is above a table: search, the conditions in force, how many rows, columns, and the file. */
const Tools = ({ query, table, filters, chosen, count, change, save, ...props }: ToolsProps) => (
  <div class="table-tools">
    <SearchBox
      label={props.searchLabel}
      words={query.get('find') ?? ''}
      onSearch={(find) => change({ find })}
    />
    <Chips filters={filters} remove={({ id, usual }) => change({ [id]: usual && anyValue })} />
    {props.choices.length > 0 && (
      <AddFilter choices={props.choices} add={(id, value) => change({ [id]: value })} />
    )}
    {table.rows && <RowCount count={count} all={table.rows.length + (table.remaining ?? 0)} />}
    <ColumnMenu columns={props.columns} shown={chosen.ids} toggle={chosen.toggle} />
    <button
      type="button"
      class="button small icon-only quiet-button"
      aria-label={t('table.export')}
      title={t('table.export')}
      onClick={save}
    >
      <Icon of="download" />
    </button>
  </div>
);

/** Says that nothing matches, and offers to see everything. */
const NotFound = ({ words, clear }: { words: MessageID; clear: () => void }) => (
  <div class="empty">
    <Status>{t(words)}</Status>
    <Button onPress={clear}>{t('table.filter.clear')}</Button>
  </div>
);

/**
 * The objects of a kind: searched, filtered and ordered by the address of the page, live, selected,
 * with the columns that one chose, and saved as a file.
 */
export function ObjectTable(props: Props) {
  const { label, resource, path, query, table, columns, choices, to, acts, lang } = props;
  const change = queryChange(path, query);
  const usual = props.usualSort && { id: props.usualSort, isDescending: false };
  const sort = sortOf(query) ?? (usual || undefined);
  const chosen = useColumns(resource, columns);
  const rows = table.rows?.filter(props.matches ?? (() => true)) ?? [];
  const selection = useSelection(rows.map(({ object }) => object.metadata.name));
  const filters = filtersIn(query, choices);
  const sortBy = (column: DataColumn): (() => void) | undefined => {
    if (column.orderBy) return () => change({ sort: column.id });
    return table.isComplete ? () => change({ sort: nextSort(column, sort) }) : undefined;
  };
  const conditions = ['find', ...choices.map(({ id }) => id)].filter((id) => query.get(id));
  if (table.rows?.length === 0 && conditions.length === 0) {
    return <div class="empty">{props.empty}</div>;
  }
  return (
    <>
      <Tools
        {...props}
        filters={filters}
        chosen={chosen}
        count={rows.length}
        change={change}
        save={() => saveCSV(resource, chosen.shown, rows)}
      />
      {table.failure && <Failure failure={table.failure} retry={table.retry} />}
      {!table.rows && !table.failure && <Bones />}
      {table.rows && rows.length === 0 && (
        <NotFound
          words={props.notFound}
          clear={() => change(Object.fromEntries(conditions.map((id) => [id, undefined])))}
        />
      )}
      {rows.length > 0 && (
        <DataTable
          label={label}
          columns={chosen.shown}
          rows={rows}
          lang={lang}
          sort={sort}
          sortBy={sortBy}
          selection={acts && selection}
          to={to}
          current={props.current}
        />
      )}
      {table.isComplete === false && (
        <p class="table-end">
          <Button busy={table.busy} onPress={() => void table.more()}>
            {t('console.more')}
          </Button>
        </p>
      )}
      {acts && <SelectionBar selection={selection}>{acts([...selection.names])}</SelectionBar>}
    </>
  );
}
