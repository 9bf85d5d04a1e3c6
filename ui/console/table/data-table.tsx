import { Icon } from '../../base/frame/icon.js';
import { t } from '../../base/text/message.js';
import { A } from '../base/parts.js';
import { navigate } from '../base/route.js';
import type { Row } from '../base/table.js';
import type { DataColumn } from './column.js';
import { Check, type Selection } from './selection.js';
import { sorted, type Sort } from './sort.js';

interface Props {
  label: string;
  columns: readonly DataColumn[];
  rows: readonly Row[];
  /** The language of titles and texts, where it is not that of the page. */
  lang?: string | undefined;
  sort: Sort | undefined;
  /** Absent where rows cannot be in this order, because some are not loaded. */
  sortBy: (column: DataColumn) => (() => void) | undefined;
  selection?: Selection | undefined;
  to: (row: Row) => string;
  /** The name of the object that is open beside the table. */
  current?: string | undefined;
}

function Head({ column, sort, sortBy }: { column: DataColumn } & Pick<Props, 'sort' | 'sortBy'>) {
  const isSorted = sort?.id === column.id;
  const press = sortBy(column);
  const isDescending = column.orderBy ? column.isNewestFirst : sort?.isDescending;
  const order = isDescending ? 'descending' : 'ascending';
  return (
    <th
      scope="col"
      class={looksOf(column)}
      title={column.description}
      aria-sort={isSorted ? order : undefined}
    >
      {press ? (
        <button type="button" onClick={press}>
          {column.title}
          {isSorted && <Icon of={isDescending ? 'arrow-down' : 'arrow-up'} />}
        </button>
      ) : (
        column.title
      )}
    </th>
  );
}

const looksOf = ({ isNumber, isSecondary }: DataColumn): string | undefined =>
  [isNumber && 'number', isSecondary && 'secondary'].filter(Boolean).join(' ') || undefined;

/** Moves the focus to the row above or below; Space selects the row. */
function onKeyDown(event: KeyboardEvent): void {
  const { key, target } = event;
  if (!(target instanceof HTMLElement) || target.tagName !== 'A') return;
  const row = target.closest('tr');
  if (key === ' ') {
    event.preventDefault();
    row?.querySelector<HTMLInputElement>('input[type=checkbox]')?.click();
  }
  if (key !== 'ArrowDown' && key !== 'ArrowUp') return;
  event.preventDefault();
  const next = key === 'ArrowDown' ? row?.nextElementSibling : row?.previousElementSibling;
  next?.querySelector('a')?.focus();
}

/** A press anywhere in a row opens it, except on what is a control itself or marked text. */
function open(event: MouseEvent, to: string): void {
  const { target } = event;
  const isControl = target instanceof Element && target.closest('a, button, input, label, summary');
  if (isControl || event.button || getSelection()?.toString()) return;
  if (event.metaKey || event.ctrlKey) {
    globalThis.open(to, '_blank', 'noopener');
  } else {
    navigate(to);
  }
}

interface RowProps extends Pick<Props, 'columns' | 'selection' | 'to' | 'current'> {
  row: Row;
}

function DataRow({ row, columns, selection, to, current }: RowProps) {
  const { name } = row.object.metadata;
  const [first, ...others] = columns;
  const path = to(row);
  const isSelected = selection?.names.has(name) ?? false;
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- the link in the first cell does the same
    <tr
      aria-selected={selection ? isSelected : undefined}
      aria-current={name === current || undefined}
      onClick={(event) => open(event, path)}
    >
      {selection && (
        <td class="select">
          <Check
            label={t('table.select', { name: first!.text(row) })}
            checked={isSelected}
            onChange={(range) => selection.toggle(name, range)}
          />
        </td>
      )}
      <th scope="row">
        <A to={path}>{first!.cell?.(row) ?? <bdi dir="ltr">{first!.text(row)}</bdi>}</A>
      </th>
      {others.map((column) => (
        <td key={column.id} class={looksOf(column)}>
          {column.cell?.(row) ?? <bdi>{column.text(row)}</bdi>}
        </td>
      ))}
    </tr>
  );
}

/** A table whose rows open what they are about; by the keyboard with the arrows and Enter. */
export function DataTable({ label, rows, lang, sort, sortBy, ...props }: Props) {
  const { columns, selection } = props;
  const shown = sorted(rows, columns, sort);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it may scroll
    <div class="table data" role="region" tabIndex={0} aria-label={label} lang={lang}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- moves between its links */}
      <table onKeyDown={onKeyDown}>
        <thead>
          <tr>
            {selection && (
              <th scope="col" class="select">
                <Check
                  label={t('table.select.all')}
                  checked={selection.names.size > 0 && selection.names.size === rows.length}
                  isPartly={selection.names.size > 0 && selection.names.size < rows.length}
                  onChange={() => selection.toggleAll()}
                />
              </th>
            )}
            {columns.map((column) => (
              <Head key={column.id} column={column} sort={sort} sortBy={sortBy} />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <DataRow key={row.object.metadata.uid} row={row} {...props} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
