import { useRead } from '../../base/api/use-read.js';
import { addMessages } from '../../base/text/i18n.js';
import { t } from '../../base/text/message.js';
import type { Names } from '../../decisions/names.js';
import activity from '../../messages/en/activity.json';
import alternatives from '../../messages/en/alternatives.json';
import decisions from '../../messages/en/decisions.json';
import policy from '../../messages/en/policy.json';
import { useConsole } from '../base/console-context.js';
import { kindOf } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { A } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { useDisplayNames } from './decision-names.js';
import type { DataColumn } from '../table/column.js';
import { searchFor, segments, selectorsOf, shownOf } from './activity-search.js';
import { appOf, decisionOf, From, methodOf } from './activity-words.js';
import { addressWith, columnsOf, Records } from './records.js';

addMessages({ ...alternatives, ...decisions, ...policy, ...activity });

const path = pathTo('activity');
const columnsOfActivity = (names: Names): DataColumn[] => {
  const { time, who, what, outcome } = columnsOf(names);
  const secondary: DataColumn[] = [
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
  ];
  return [time, who, what, ...secondary, outcome];
};

/** The kinds of activity to choose from. */
const Segments = ({ query }: { query: URLSearchParams }) => (
  <nav class="sections" aria-label={t('activity.show')}>
    <ul>
      {segments.map((shown) => (
        <li key={shown}>
          <A
            to={addressWith(path, query, 'show', shown === 'all' ? undefined : shown)}
            current={shownOf(query) === shown}
          >
            {t(`activity.show.${shown}`)}
          </A>
        </li>
      ))}
    </ul>
  </nav>
);

/** Sign-ins, changes and what failed: who, what, from where, and how it ended. */
export function ActivityView({ kind, query }: { kind: Kind; query: URLSearchParams }) {
  const accounts = kindOf(useConsole().listed, 'Account');
  const names = useDisplayNames();
  const words = query.get('find') ?? '';
  const { value: search } = useRead(() => searchFor(words, accounts), [words]);
  return (
    <Frame title="console.activity" part="activity">
      <Segments query={query} />
      {search && (
        <Records
          kind={kind}
          label={t('console.activity')}
          resource="activity"
          path={path}
          query={query}
          names={names}
          columns={columnsOfActivity(names)}
          choices={[
            { id: 'app', title: t('activity.app') },
            { id: 'network', title: t('activity.network.one') },
          ]}
          selectors={selectorsOf(query, search)}
          words={search.words}
          empty={<p>{t('activity.none')}</p>}
        />
      )}
    </Frame>
  );
}
