import { useEffect } from 'preact/hooks';
import type { HourlyCount, Policy, Replica } from '../../api.js';
import { call } from '../../base/api/api.js';
import { now } from '../../base/api/clock.js';
import { readAll, useCollection } from '../../base/api/collection.js';
import { useRead } from '../../base/api/use-read.js';
import { addMessages, locale } from '../../base/text/i18n.js';
import { t } from '../../base/text/message.js';
import messages from '../../messages/en/overview.json';
import { Checklist } from './checklist.js';
import { useConsole } from '../base/console-context.js';
import { kindOf } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { listCommand, objectPath } from '../base/kubectl.js';
import { Failure, Kubectl, Loading } from '../base/parts.js';
import { useRoute } from '../base/route.js';
import {
  barsOf,
  changeOf,
  countsOf,
  hoursOf,
  reasonsOf,
  spanOf,
  totalOf,
  type Counted,
  type Span,
} from '../base/hours.js';
import { HoursChart } from './hours-chart.js';
import { Refused } from './refused.js';
import { StateFigures } from './state-figures.js';
import { Waiting } from './waiting.js';

addMessages(messages);

/** How often counts are read again, in ms: replicas add to them each minute. */
const refreshMs = 60_000;
const pageSize = 500;

const passkey: Counted = { list: 'signIns', names: ['Passkey'] };
const code: Counted = { list: 'signIns', names: ['EmailCode'] };
const link: Counted = { list: 'signIns', names: ['EmailLink'] };
const email: Counted = { list: 'signIns', names: ['EmailCode', 'EmailLink'] };
const signIns: Counted = { list: 'signIns' };
const failed: Counted = { list: 'signInsFailed' };
const byRule: Counted = { list: 'refusedByRule' };
const byLimit: Counted = { list: 'refusedByLimit' };
const sent: Counted = { list: 'mails', names: ['Sent', 'Kept'] };
const mails: Counted = { list: 'mails' };

/** The counts of the hours that a span needs, and the span: the former one until they are read. */
interface ReadHours {
  readonly hours: readonly HourlyCount[];
  readonly span: Span;
}

/** Reads the counts that a span needs, again each minute while the page is seen. */
function useHours(kind: Kind | undefined, span: Span) {
  const wanted = hoursOf(span);
  const query = { orderBy: 'status.startTimestamp', limit: String(Math.min(wanted, pageSize)) };
  const pages = Math.ceil(wanted / pageSize);
  const readHours = async (path: string): Promise<ReadHours> => {
    const { items } = await readAll<HourlyCount>(path, query, pages);
    return { hours: items, span };
  };
  const read = useRead(kind && (() => readHours(kind.path)), [kind?.path, span]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') read.reload();
    }, refreshMs);
    return () => clearInterval(timer);
  }, []);
  return read;
}

const percent = (part: number): string =>
  new Intl.NumberFormat(locale(), { style: 'percent', maximumFractionDigits: 0 }).format(part);

/** Says how sign-ins compare with the same time before, and how many failed. */
function signInsNotes(
  hours: readonly HourlyCount[],
  span: Span,
  bars: readonly number[],
): string[] {
  const change = changeOf(hours, span, signIns, now());
  const more = change !== undefined && change < 0 ? 'fewer' : 'more';
  const before = span === '7d' ? 'week' : 'day';
  const words = t(`overview.${more}.${before}`, { percent: percent(Math.abs(change ?? 0)) });
  const failures = t('overview.failed', { count: totalOf(hours, bars, failed) });
  return change === undefined ? [failures] : [words, failures];
}

function Charts({ hours, span }: { hours: readonly HourlyCount[]; span: Span }) {
  const bars = barsOf(span, now());
  const line = (label: string, counted: Counted) => ({
    label,
    counts: countsOf(hours, bars, counted),
  });
  const lines = {
    passkey: line(t('overview.passkey'), passkey),
    code: line(t('overview.code'), code),
    link: line(t('overview.link'), link),
    rule: line(t('overview.byrule'), byRule),
    limit: line(t('overview.bylimit'), byLimit),
  };
  return (
    <div class="columns">
      <HoursChart
        title={t('console.state.signins')}
        look="signins"
        span={span}
        bars={bars}
        lower={lines.passkey}
        upper={line(t('overview.email'), email)}
        lines={[lines.passkey, lines.code, lines.link]}
        notes={signInsNotes(hours, span, bars)}
        none={t('overview.signins.none')}
      />
      <HoursChart
        title={t('overview.refused')}
        look="refused"
        span={span}
        bars={bars}
        lower={lines.rule}
        upper={lines.limit}
        lines={[lines.rule, lines.limit]}
        notes={[t('overview.refused.note')]}
        none={t('overview.refused.none')}
      />
    </div>
  );
}

/** Reads the Policy that the replicas use, for the words of its rules. */
function usePolicy(replicas: readonly Replica[] | undefined): Policy | undefined {
  const kind = kindOf(useConsole().kinds, 'Policy');
  const name = replicas?.find(({ status }) => status.policy)?.status.policy;
  return useRead(
    kind && name !== undefined ? () => call<Policy>('GET', objectPath(kind, name)) : undefined,
    [name],
  ).value;
}

/** What the service does and how it is: figures, what is missing, counts by hour, what waits. */
export function ServiceState({ kind }: { kind: Kind }) {
  const wanted = spanOf(useRoute().query);
  const { items, failure, reload } = useCollection<Replica>(kind.path);
  const counts = kindOf(useConsole().listed, 'HourlyCount');
  const read = useHours(counts, wanted);
  const isRefusedByRule = read.value?.hours.some(({ status }) => status.refusedByRule?.length);
  const policy = usePolicy(isRefusedByRule ? items : undefined);
  if (!items) return failure ? <Failure failure={failure} retry={reload} /> : <Loading />;
  if (items.length === 0) return <p class="lead">{t('console.state.none')}</p>;
  const { hours, span } = read.value ?? { hours: [], span: wanted };
  const bars = barsOf(span, now());
  const sentCount = totalOf(hours, bars, sent);
  const failedMails = totalOf(hours, bars, mails) - sentCount;
  return (
    <div class="overview">
      {failure && <Failure failure={failure} retry={reload} />}
      <StateFigures
        replicas={items}
        mails={read.value && { sent: sentCount, failed: failedMails }}
        policy={policy}
      />
      <Checklist replicas={items} />
      {read.failure && <Failure failure={read.failure} retry={read.reload} />}
      {!counts && <p class="hint">{t('overview.unseen')}</p>}
      {read.value && <Charts hours={hours} span={span} />}
      <div class="lists">
        {read.value && (
          <Refused reasons={reasonsOf(hours, bars)} span={span} replicas={items} policy={policy} />
        )}
        <Waiting failedMails={failedMails} />
      </div>
      {counts && <Kubectl command={listCommand(counts, {})} />}
    </div>
  );
}
