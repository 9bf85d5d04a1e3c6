import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PolicyDecision } from '../../api.js';
import { call } from '../../base/api/api.js';
import { useRead } from '../../base/api/use-read.js';
import { t } from '../../base/text/message.js';
import type { Names } from '../../decisions/names.js';
import type { Kind } from '../base/kind.js';
import { listCommand, objectPath } from '../base/kubectl.js';
import { Day, Kubectl } from '../base/parts.js';
import { useTable, type Row } from '../base/table.js';
import { Who } from './decision-names.js';
import type { DataColumn } from '../table/column.js';
import { ObjectTable } from '../table/object-table.js';
import type { FilterChoice } from '../table/filter.js';
import { ActivityPane } from './activity-pane.js';
import { decisionOf, Outcome, outcomeOf, What } from './activity-words.js';

const order = 'status.lastTimestamp';

/** The columns of every table of records: when, who and what, and how it ended. */
export const columnsOf = (names: Names) =>
  ({
    time: {
      id: 'time',
      title: t('activity.time'),
      text: (row) => decisionOf(row).status.lastTimestamp,
      cell: (row) => <Day of={decisionOf(row).status.lastTimestamp} />,
      orderBy: order,
      isNewestFirst: true,
    },
    who: {
      id: 'who',
      title: t('activity.who'),
      text: (row) => decisionOf(row).spec.account ?? decisionOf(row).spec.principal,
      cell: (row) => <Who decision={decisionOf(row)} />,
    },
    what: {
      id: 'what',
      title: t('activity.what'),
      text: (row) => decisionOf(row).spec.action,
      cell: (row) => <What decision={decisionOf(row)} names={names} />,
    },
    outcome: {
      id: 'outcome',
      title: t('activity.outcome'),
      text: (row) => outcomeOf(decisionOf(row)),
      cell: (row) => <Outcome decision={decisionOf(row)} />,
    },
  }) as const satisfies Record<string, DataColumn>;

/** Returns the address of a view with another condition. */
export function addressWith(
  path: string,
  query: URLSearchParams,
  name: string,
  value: string | undefined,
): string {
  const next = new URLSearchParams(query);
  if (value === undefined) next.delete(name);
  else next.set(name, value);
  return next.size > 0 ? `${path}?${next}` : path;
}

const timeOf = (row: Row): string => decisionOf(row).status.lastTimestamp;
const byTime = (a: Row, b: Row): number => timeOf(b).localeCompare(timeOf(a));

/** Returns the record that the address opens: one that is loaded, or one that is read for it. */
function useOpen(
  kind: Kind,
  name: string | null,
  rows: readonly Row[] | undefined,
): PolicyDecision | undefined {
  const row = rows?.find(({ object }) => object.metadata.name === name);
  const isAbsent = name !== null && rows !== undefined && !row;
  const read = isAbsent ? () => call<PolicyDecision>('GET', objectPath(kind, name)) : undefined;
  const { value } = useRead(read, [name, isAbsent]);
  if (row) return decisionOf(row);
  return isAbsent && value?.metadata.name === name ? value : undefined;
}

interface Props {
  kind: Kind;
  /** The name of the table, and the last part of its address. */
  label: string;
  resource: string;
  path: string;
  query: URLSearchParams;
  names: Names;
  columns: readonly DataColumn[];
  choices: readonly FilterChoice[];
  /** What the service selects by. */
  selectors: readonly string[];
  /** What a row must contain in addition. */
  words: string;
  /** The timestamp before which nothing is shown. */
  since?: string | undefined;
  empty: ComponentChildren;
  /** What the pane of a record has in addition. */
  more?: (decision: PolicyDecision) => ComponentChildren;
}

/** Recorded decisions, newest first and live, and beside them the one that is open. */
export function Records({ kind, path, query, names, columns, selectors, words, ...props }: Props) {
  const { since = '', more } = props;
  const fieldSelector = selectors.join(',');
  const [mayOrder, setMayOrder] = useState(true);
  const asked = { ...(fieldSelector && { fieldSelector }), includeObject: 'Object' };
  const table = useTable(kind.path, asked, mayOrder ? order : undefined);
  useEffect(() => {
    if (table.failure?.code === 400) setMayOrder(false); // who sees some records orders them here
  }, [table.failure]);
  const rows = table.rows?.toSorted(byTime);
  const isWhole = mayOrder && rows?.some((row) => timeOf(row) < since);
  const open = useOpen(kind, query.get('open'), rows);
  const wanted = words.toLowerCase();
  const matches = (row: Row): boolean =>
    timeOf(row) >= since &&
    columns.some((column) => column.text(row).toLowerCase().includes(wanted));
  return (
    <div class={open ? 'beside' : undefined}>
      <div>
        <ObjectTable
          {...props}
          path={path}
          query={query}
          columns={columns}
          table={{ ...table, ...(rows && { rows }), ...(isWhole && { isComplete: true }) }}
          searchLabel={t('activity.find')}
          usualSort="time"
          matches={matches}
          current={open?.metadata.name}
          to={({ object }) => addressWith(path, query, 'open', object.metadata.name)}
          notFound="activity.notfound"
        />
        <Kubectl command={listCommand(kind, { fieldSelector })} />
      </div>
      {open && (
        <ActivityPane
          key={open.metadata.name}
          kind={kind}
          decision={open}
          names={names}
          closed={addressWith(path, query, 'open', undefined)}
        >
          {more?.(open)}
        </ActivityPane>
      )}
    </div>
  );
}
