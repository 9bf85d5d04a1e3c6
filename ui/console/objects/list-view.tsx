import { Icon } from '../../base/frame/icon.js';
import { t } from '../../base/text/message.js';
import { useDocument } from '../base/console-context.js';
import { pluralOf, singularOf, useIsAllowed } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { listCommand } from '../base/kubectl.js';
import { A, Age, English, Kubectl } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { objectSchema, selectableFields } from '../base/schema.js';
import { useTable, type Column, type Row } from '../base/table.js';
import { BulkDelete } from '../table/bulk-act.js';
import type { DataColumn } from '../table/column.js';
import { ObjectTable } from '../table/object-table.js';
import type { Filter } from '../table/filter.js';

const nameField = 'metadata.name';
const labels = 'labels';

/** Returns the selectors that the server applies: fields and labels by their names in the address. */
function selectorsOf(query: URLSearchParams, fields: readonly string[]): Record<string, string> {
  const chosen = [nameField, ...fields].flatMap((field) => {
    const value = query.get(field);
    return value ? `${field}=${value}` : [];
  });
  const labelSelector = query.get(labels);
  return {
    ...(chosen.length > 0 && { fieldSelector: chosen.join() }),
    ...(labelSelector && { labelSelector }),
  };
}

const filterChoices = (fields: readonly string[]): Omit<Filter, 'value'>[] => [
  ...fields.map((field) => ({ id: field, title: field, lang: 'en' })),
  { id: nameField, title: t('console.search.name') },
  { id: labels, title: t('console.search.labels') },
];

/** Returns the server's columns; those that kubectl shows with `-o wide` are there to be chosen. */
const columnsOf = (columns: readonly Column[]): DataColumn[] =>
  columns.map(({ name, description, priority }, i) => ({
    id: name,
    title: name.replaceAll('-', ' '),
    description,
    isExtra: priority > 0,
    isSecondary: i > 1,
    text: ({ cells }) => String(cells[i] ?? ''),
    ...(name === 'Age' && {
      text: ({ object }: Row) => object.metadata.creationTimestamp,
      cell: ({ object }: Row) => <Age of={object.metadata.creationTimestamp} />,
    }),
  }));

/** The objects of a kind as the server's table. */
export function ListView({ kind, query }: { kind: Kind; query: URLSearchParams }) {
  const document = useDocument();
  const fields = selectableFields(document, kind);
  const selectors = selectorsOf(query, fields);
  const table = useTable(kind.path, selectors);
  const words = (query.get('find') ?? '').toLowerCase();
  const mayCreate = useIsAllowed(kind, 'create');
  const mayDelete = useIsAllowed(kind, 'delete');
  const name = pluralOf(kind);
  const add = mayCreate && (
    <A to={pathTo(kind.resource, '-', 'new')} look="button main">
      <Icon of="plus" />
      {t('console.new', { kind: singularOf(kind) })}
    </A>
  );
  return (
    <Frame
      title="console.list.title"
      values={{ kind: name }}
      heading={<English>{name}</English>}
      kind={kind}
      actions={add}
    >
      <ObjectTable
        label={name}
        resource={kind.resource}
        path={pathTo(kind.resource)}
        query={query}
        table={table}
        columns={columnsOf(table.columns ?? [])}
        lang="en"
        searchLabel={t('console.search')}
        choices={filterChoices(fields)}
        matches={({ cells }) => cells.some((cell) => String(cell).toLowerCase().includes(words))}
        to={({ object }) => pathTo(kind.resource, object.metadata.name)}
        empty={
          <>
            <p>{t('console.empty')}</p>
            <p class="hint">
              <English>{objectSchema(document, kind).description}</English>
            </p>
          </>
        }
        notFound="console.notfound"
        acts={mayDelete ? (names) => <BulkDelete kind={kind} names={names} /> : undefined}
      />
      <Kubectl command={listCommand(kind, selectors)} />
    </Frame>
  );
}
