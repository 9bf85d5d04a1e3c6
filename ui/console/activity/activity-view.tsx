import { useEffect, useState } from 'preact/hooks';
import { useRead } from '../../base/api/use-read.js';
import { addMessages } from '../../base/text/i18n.js';
import { t } from '../../base/text/message.js';
import type { Names } from '../../decisions/names.js';
import activity from '../../messages/en/activity.json';
import decisions from '../../messages/en/decisions.json';
import policy from '../../messages/en/policy.json';
import { useConsole } from '../base/console-context.js';
import { kindOf } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { listCommand } from '../base/kubectl.js';
import { A, Day, Kubectl } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { useTable, type Row } from '../base/table.js';
import { useDisplayNames, Who } from './decision-names.js';
import type { DataColumn } from '../table/column.js';
import { ObjectTable } from '../table/object-table.js';
import { ActivityPane } from './activity-pane.js';
import { searchFor, segments, selectorsOf, shownOf, type Search } from './activity-search.js';
import { appOf, decisionOf, From, methodOf, Outcome, outcomeOf, What } from './activity-words.js';

addMessages({ ...decisions, ...policy, ...activity });

const path = pathTo('activity');
const order = 'status.lastTimestamp';

const columnsOf = (names: Names): DataColumn[] => [
  {
    id: 'time',
    title: t('activity.time'),
    text: (row) => decisionOf(row).status.lastTimestamp,
    cell: (row) => <Day of={decisionOf(row).status.lastTimestamp} />,
    orderBy: order,
    isNewestFirst: true,
  },
  {
    id: 'who',
    title: t('activity.who'),
    text: (row) => decisionOf(row).spec.account ?? decisionOf(row).spec.principal,
    cell: (row) => <Who decision={decisionOf(row)} />,
  },
  {
    id: 'what',
    title: t('activity.what'),
    text: (row) => decisionOf(row).spec.action,
    cell: (row) => <What decision={decisionOf(row)} names={names} />,
  },
  {
    id: 'app',
    title: t('activity.app'),
    text: (row) => names.client(appOf(decisionOf(row)) ?? ''),
    isSecondary: true,
  },
  {
    id: 'method',
    title: t('activity.method'),
    text: (row) => methodOf(decisionOf(row)),
    isSecondary: true,
  },
  {
    id: 'from',
    title: t('activity.from'),
    text: (row) => Object.values(decisionOf(row).status.request ?? {}).join(' '),
    cell: (row) => <From decision={decisionOf(row)} />,
    isSecondary: true,
  },
  {
    id: 'outcome',
    title: t('activity.outcome'),
    text: (row) => outcomeOf(decisionOf(row)),
    cell: (row) => <Outcome decision={decisionOf(row)} />,
  },
];

/** Returns the address of the view with other conditions. */
function addressWith(query: URLSearchParams, name: string, value: string | undefined): string {
  const next = new URLSearchParams(query);
  if (value === undefined) next.delete(name);
  else next.set(name, value);
  return next.size > 0 ? `${path}?${next}` : path;
}

const byTime = (a: Row, b: Row): number =>
  decisionOf(b).status.lastTimestamp.localeCompare(decisionOf(a).status.lastTimestamp);

/** The kinds of activity to choose from. */
const Segments = ({ query }: { query: URLSearchParams }) => (
  <nav class="sections" aria-label={t('activity.show')}>
    <ul>
      {segments.map((shown) => (
        <li key={shown}>
          <A
            to={addressWith(query, 'show', shown === 'all' ? undefined : shown)}
            current={shownOf(query) === shown}
          >
            {t(`activity.show.${shown}`)}
          </A>
        </li>
      ))}
    </ul>
  </nav>
);

interface FoundProps {
  kind: Kind;
  query: URLSearchParams;
  search: Search;
  names: Names;
}

/** The records that a search finds, newest first, and the one that is open. */
function Found({ kind, query, search, names }: FoundProps) {
  const fieldSelector = selectorsOf(query, search).join(',');
  const [mayOrder, setMayOrder] = useState(true);
  const selectors = { fieldSelector, includeObject: 'Object' };
  const table = useTable(kind.path, selectors, mayOrder ? order : undefined);
  useEffect(() => {
    if (table.failure?.code === 400) setMayOrder(false); // who sees some records orders them here
  }, [table.failure]);
  const columns = columnsOf(names);
  const words = search.words.toLowerCase();
  const open = table.rows?.find(({ object }) => object.metadata.name === query.get('open'));
  const conditions = [
    { id: 'app', title: t('activity.app') },
    { id: 'network', title: t('activity.network.one') },
  ];
  return (
    <div class={open ? 'beside' : undefined}>
      <div>
        <ObjectTable
          label={t('console.activity')}
          resource="activity"
          path={path}
          query={query}
          table={{ ...table, rows: table.rows?.toSorted(byTime) }}
          columns={columns}
          searchLabel={t('activity.find')}
          choices={conditions}
          usualSort="time"
          matches={(row) =>
            columns.some((column) => column.text(row).toLowerCase().includes(words))
          }
          to={({ object }) => addressWith(query, 'open', object.metadata.name)}
          empty={<p>{t('activity.none')}</p>}
          notFound="activity.notfound"
        />
        <Kubectl command={listCommand(kind, { fieldSelector })} />
      </div>
      {open && (
        <ActivityPane
          kind={kind}
          decision={decisionOf(open)}
          names={names}
          closed={addressWith(query, 'open', undefined)}
        />
      )}
    </div>
  );
}

/** Sign-ins, changes and what failed: who, what, from where, and how it ended. */
export function ActivityView({ kind, query }: { kind: Kind; query: URLSearchParams }) {
  const accounts = kindOf(useConsole().listed, 'Account');
  const names = useDisplayNames();
  const words = query.get('find') ?? '';
  const { value: search } = useRead(() => searchFor(words, accounts), [words]);
  return (
    <Frame title="console.activity" part="activity">
      <Segments query={query} />
      {search && <Found kind={kind} query={query} search={search} names={names} />}
    </Frame>
  );
}
