import type { Replica } from '../../api.js';
import { useCollection } from '../../base/api/collection.js';
import { locale } from '../../base/text/i18n.js';
import { t } from '../../base/text/message.js';
import type { MessageID } from '../../messages/catalog.js';
import { Checklist } from './checklist.js';
import type { Kind } from '../base/kind.js';
import { listCommand } from '../base/kubectl.js';
import { A, Age, English, Failure, Kubectl, Loading, Part } from '../base/parts.js';
import { refusalsOf, seriesOf, sum, tenMinutes, type CountName, type Series } from './replica.js';
import { pathTo } from '../base/route.js';

const charts: readonly { name: CountName; title: MessageID; isBad?: boolean }[] = [
  { name: 'signIns', title: 'console.state.signins' },
  { name: 'signInsFailed', title: 'console.state.signins.failed', isBad: true },
  { name: 'requestsRefused', title: 'console.state.refused', isBad: true },
  { name: 'mailsSent', title: 'console.state.mails' },
  { name: 'mailsFailed', title: 'console.state.mails.failed', isBad: true },
];

const number = (count: number): string => new Intl.NumberFormat(locale()).format(count);
const clockTime = (at: number): string =>
  new Intl.DateTimeFormat(locale(), { timeStyle: 'short' }).format(at);

/** Returns a size in bytes in words, such as 4.1 MB. */
function bytesText(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return new Intl.NumberFormat(locale(), {
    style: 'unit',
    unit: units[power]!,
    maximumFractionDigits: 1,
  }).format(bytes / 1000 ** power);
}

/** A bar for each minute; what it shows is in the table beside it. */
function Bars({ counts, isBad }: { counts: readonly number[]; isBad: boolean }) {
  const most = Math.max(1, ...counts);
  return (
    <svg
      class={isBad ? 'bars bad' : 'bars'}
      viewBox={`0 0 ${counts.length * 4} 40`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {counts.map((count, i) => {
        const height = count && Math.max(2, (count / most) * 39);
        return count > 0 && <rect x={i * 4} y={39 - height} width="3" height={height} />;
      })}
      <rect class="axis" x="0" y="39" width={counts.length * 4} height="1" />
    </svg>
  );
}

const Figures = ({ series, title }: { series: Series; title: string }) => (
  <table class="quiet">
    <caption>{title}</caption>
    <tbody>
      {tenMinutes(series).map(({ begin, count }) => (
        <tr>
          <th scope="row">{clockTime(begin)}</th>
          <td>{number(count)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Charts = ({ replicas }: { replicas: readonly Replica[] }) => (
  <ul class="charts" aria-label={t('console.state.hour')}>
    {charts.map(({ name, title, isBad = false }) => {
      const series = seriesOf(replicas, name);
      return (
        <li key={name}>
          <h3>{t(title)}</h3>
          <p class="figure">{number(sum(series.counts))}</p>
          <Bars counts={series.counts} isBad={isBad} />
          <Figures series={series} title={t(title)} />
        </li>
      );
    })}
  </ul>
);

/** What limits refused in the last hour, added up over replicas, each with its setting. */
function Refusals({ replicas }: { replicas: readonly Replica[] }) {
  const refusals = refusalsOf(replicas);
  return (
    refusals.length > 0 && (
      <Part id="limits" title={t('console.state.limits')}>
        <ul class="plain">
          {refusals.map(({ limit, setting = limit, value, count }) => (
            <li key={limit}>
              <English>{value === undefined ? setting : `${setting}: ${value}`}</English> ·{' '}
              {number(count)}
            </li>
          ))}
        </ul>
      </Part>
    )
  );
}

function ReplicaItem({ kind, replica }: { kind: Kind; replica: Replica }) {
  const { metadata, status } = replica;
  return (
    <li>
      <h3>
        <A to={pathTo(kind.resource, metadata.name)}>
          <bdi dir="ltr">{metadata.name}</bdi>
        </A>
      </h3>
      {status.ready ? (
        <p>{t('console.state.ready')}</p>
      ) : (
        <p class="fault">
          {t('console.state.unready', { checks: status.failedChecks.join(', ') })}
        </p>
      )}
      <p class="hint">
        {t('console.state.running')} <Age of={status.startTimestamp} /> ·{' '}
        <bdi dir="ltr">{status.release}</bdi>
      </p>
    </li>
  );
}

/** The copies of the store, each once although every replica reports them. */
function Store({ replicas }: { replicas: readonly Replica[] }) {
  const copies = new Map(
    replicas.flatMap(({ status }) => status.store.copies.map((copy) => [copy.name, copy] as const)),
  );
  return (
    <ul class="plain">
      {[...copies.values()].map(({ name, bytes, quotaBytes }) => (
        <li key={name}>
          <English>{name}</English>:{' '}
          {quotaBytes === undefined
            ? bytesText(bytes)
            : t('console.state.quota', { size: bytesText(bytes), quota: bytesText(quotaBytes) })}
        </li>
      ))}
      {copies.size === 0 && <li>{t('console.state.nosize')}</li>}
    </ul>
  );
}

/** The policies that replicas use: one, except while a new one is put in force. */
const Policies = ({ replicas }: { replicas: readonly Replica[] }) => (
  <ul class="plain">
    {[...new Set(replicas.flatMap(({ status }) => status.policy ?? []))].map((name) => (
      <li key={name}>
        <A to={pathTo('policies', name)}>
          <bdi dir="ltr">{name}</bdi>
        </A>
      </li>
    ))}
  </ul>
);

/** What the service does and how it is: what is missing, its activity, replicas, store and policy. */
export function ServiceState({ kind }: { kind: Kind }) {
  const { items, failure, reload } = useCollection<Replica>(kind.path);
  if (!items) return failure ? <Failure failure={failure} retry={reload} /> : <Loading />;
  if (items.length === 0) return <p class="lead">{t('console.state.none')}</p>;
  return (
    <>
      {failure && <Failure failure={failure} retry={reload} />}
      <Checklist replicas={items} />
      <Part id="hour" title={t('console.state.hour')}>
        <Charts replicas={items} />
      </Part>
      <Refusals replicas={items} />
      <Part id="replicas" title={t('console.state.replicas')}>
        <ul class="tiles">
          {items.map((replica) => (
            <ReplicaItem key={replica.metadata.name} kind={kind} replica={replica} />
          ))}
        </ul>
      </Part>
      <section class="pair">
        <div>
          <h2>{t('console.state.store')}</h2>
          <Store replicas={items} />
        </div>
        <div>
          <h2>{t('console.state.policy')}</h2>
          <Policies replicas={items} />
        </div>
        <div>
          <h2>{t('console.settings')}</h2>
          <p>
            <A to={pathTo('settings')}>{t('console.settings.link')}</A>
          </p>
        </div>
      </section>
      <Kubectl command={`${listCommand(kind, {})} -o yaml`} />
    </>
  );
}
