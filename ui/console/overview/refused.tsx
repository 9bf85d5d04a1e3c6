import { useState } from 'preact/hooks';
import type { Policy, Replica } from '../../api.js';
import { now } from '../../base/api/clock.js';
import { Lazy, useLazy } from '../../base/api/lazy.js';
import { Button } from '../../base/button.js';
import { locale } from '../../base/text/i18n.js';
import { Text, t } from '../../base/text/message.js';
import { formatDateTime } from '../../base/text/timestamp.js';
import { idToWords } from '../../decisions/id-words.js';
import { ruleMessage } from '../../decisions/rule-words.js';
import { useConsole } from '../base/console-context.js';
import { kindOf } from '../base/discovery.js';
import { A, English } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { settingOf } from './checklist-rules.js';
import type { Reason, Span } from '../base/hours.js';

interface Known {
  readonly replicas: readonly Replica[];
  readonly policy: Policy | undefined;
}

/** What each setting is, in English, and its default if every process has the same. */
type Settings = Readonly<Record<string, { readonly description: string; readonly value?: string }>>;

/** The descriptions are long, and needed only where a limit refused something. */
const settingsChunk = new Lazy<{ readonly default: Settings }>(
  () => import('../settings/known-settings.json'),
);

/** How many reasons are shown at first. */
const shownAtFirst = 4;

const number = (count: number): string => new Intl.NumberFormat(locale()).format(count);

/** Returns the time of day of today, else the date. */
function timeText(timestamp: string): string {
  const date = new Date(timestamp);
  const isToday = date.toDateString() === new Date(now()).toDateString();
  const form = isToday
    ? ({ timeStyle: 'short' } as const)
    : ({ day: 'numeric', month: 'short' } as const);
  return new Intl.DateTimeFormat(locale(), form).format(date);
}

/** A rule by its message, and its name. */
function RuleWords({ name, policy }: { name: string; policy: Policy | undefined }) {
  if (name === 'other') return <>{t('overview.reason.other')}</>;
  if (name === 'default' || name === 'error') return <>{t(`overview.reason.${name}`)}</>;
  const rule = policy?.status.rules.find(({ id }) => id === name);
  return (
    <>
      <Text of={(rule && ruleMessage(rule)) || idToWords(name)} max={120} />
      <span class="hint">
        {t('overview.rule')} · <bdi dir="ltr">{name}</bdi>
      </span>
    </>
  );
}

/** A limit by what it counts, and its setting with the value in force. */
function LimitWords({ name, replicas }: { name: string; replicas: readonly Replica[] }) {
  const known = useLazy(settingsChunk).loaded?.default[name];
  const set = replicas.map((replica) => settingOf(replica, name)?.value);
  const value = set.find((one) => one !== undefined) ?? known?.value;
  const [what] = known?.description.split('. From ') ?? [];
  return (
    <>
      <English>{what ?? name}</English>
      <span class="hint">
        {t('overview.limit')} ·{' '}
        <bdi dir="ltr">{value === undefined ? name : `${name}=${value}`}</bdi>
      </span>
    </>
  );
}

/** What can be done about a reason: see who was refused, or the setting of the limit. */
function Act({ reason: { by, name }, span }: { reason: Reason; span: Span }) {
  const { listed } = useConsole();
  if (by === 'limit') {
    if (!name.startsWith('limits-') || !kindOf(listed, 'Replica')) return null;
    const query = new URLSearchParams({ find: name });
    return (
      <A look="button small" to={`${pathTo('settings')}?${query}`}>
        {t('overview.setting')}
      </A>
    );
  }
  if (name === 'other' || !kindOf(listed, 'PolicyDecision')) return null;
  const days = { '24h': '1', '7d': '7', '30d': '30' }[span];
  const query = new URLSearchParams({ rule: name, result: 'refused', days });
  return (
    <A look="button small" to={`${pathTo('decisions')}?${query}`}>
      {t('overview.who')}
    </A>
  );
}

function Row({
  reason,
  most,
  span,
  known,
}: {
  reason: Reason;
  most: number;
  span: Span;
  known: Known;
}) {
  const { by, name, count, last } = reason;
  return (
    <tr>
      <th scope="row">
        {by === 'rule' ? (
          <RuleWords name={name} policy={known.policy} />
        ) : (
          <LimitWords name={name} replicas={known.replicas} />
        )}
      </th>
      <td class="times">
        <svg
          class={`share ${by}`}
          viewBox="0 0 100 1"
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <rect width={Math.max(2, (100 * count) / most)} height="1" />
        </svg>{' '}
        {number(count)}
      </td>
      <td>
        <time dateTime={last} title={formatDateTime(last)}>
          {timeText(last)}
        </time>
      </td>
      <td class="act">
        <Act reason={reason} span={span} />
      </td>
    </tr>
  );
}

/** What was refused in the span, by the rule or limit that refused it, most refusals first. */
export function Refused({
  reasons,
  span,
  ...known
}: Known & { reasons: readonly Reason[]; span: Span }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? reasons : reasons.slice(0, shownAtFirst);
  return (
    <section class="panel" aria-labelledby="refused">
      <div class="panel-head">
        <h2 id="refused">{t('overview.refused.by')}</h2>
        {shown.length < reasons.length && (
          <Button variant="small" onPress={() => setWhole(true)}>
            {t('overview.refused.all', { count: reasons.length })}
          </Button>
        )}
      </div>
      {reasons.length === 0 ? (
        <p class="empty">{t('overview.refused.none')}</p>
      ) : (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it may scroll
        <div class="table wraps" role="group" tabIndex={0} aria-label={t('overview.refused.by')}>
          <table>
            <thead>
              <tr>
                {(['reason', 'times', 'last'] as const).map((column) => (
                  <th key={column} scope="col">
                    {t(`overview.column.${column}`)}
                  </th>
                ))}
                <th scope="col">
                  <span class="quiet">{t('overview.column.act')}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.map((reason) => (
                <Row
                  key={`${reason.by} ${reason.name}`}
                  reason={reason}
                  most={reasons[0]!.count}
                  span={span}
                  known={known}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
