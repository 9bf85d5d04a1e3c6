import type { Account, PolicyDecision } from '../../api.js';
import { Button } from '../../base/button.js';
import { now } from '../../base/api/clock.js';
import { Icon, type IconName } from '../../base/frame/icon.js';
import { addMessages, locale } from '../../base/text/i18n.js';
import { t } from '../../base/text/message.js';
import { formatDateTime } from '../../base/text/timestamp.js';
import type { Names } from '../../decisions/names.js';
import activity from '../../messages/en/activity.json';
import decisions from '../../messages/en/decisions.json';
import policy from '../../messages/en/policy.json';
import { selectorsOf } from '../activity/activity-search.js';
import { appOf, decisionOf, methodOf, Outcome, What } from '../activity/activity-words.js';
import { useActivity } from '../activity/use-activity.js';
import type { Kind } from '../base/kind.js';
import { A, Failure, Loading, Part } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { useDisplayNames } from '../policy/decision-names.js';

addMessages({ ...decisions, ...policy, ...activity });

/** Returns the day of something in words, such as "yesterday". */
function dayOf(timestamp: string): string {
  const startOf = (time: number): number => new Date(time).setHours(0, 0, 0, 0);
  const days = Math.round((startOf(now()) - startOf(Date.parse(timestamp))) / 86_400_000);
  if (days < 2) {
    return new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' }).format(-days, 'day');
  }
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'long' }).format(new Date(timestamp));
}

const timeOf = (timestamp: string): string =>
  new Intl.DateTimeFormat(locale(), { timeStyle: 'short' }).format(new Date(timestamp));

function iconOf({ spec, status }: PolicyDecision): IconName {
  if (!status.allowed || status.outcome) return 'circle-x';
  if (spec.action === 'signIn') return 'log-in';
  return spec.resource?.kind === 'Passkey' ? 'fingerprint-pattern' : 'pencil';
}

interface EventProps {
  decision: PolicyDecision;
  names: Names;
  /** Where the record is shown with all that is known of it. */
  to: string;
}

/** What happened, where, how and from where, and when. */
function Event({ decision, names, to }: EventProps) {
  const { lastTimestamp, allowed, outcome, count, request } = decision.status;
  const app = appOf(decision);
  return (
    <li>
      <Icon of={iconOf(decision)} />
      <div>
        <A to={to}>
          <What decision={decision} names={names} />
        </A>
        {app && <bdi class="strong"> {names.client(app)}</bdi>}{' '}
        {(!allowed || outcome || count > 1) && <Outcome decision={decision} />}
        <p class="hint">
          <bdi>{[methodOf(decision), request?.network].filter(Boolean).join(' · ')}</bdi>
        </p>
      </div>
      <time dateTime={lastTimestamp} title={formatDateTime(lastTimestamp)}>
        {timeOf(lastTimestamp)}
      </time>
    </li>
  );
}

/** Sign-ins and changes of a person, newest first, by day. */
export function PersonTimeline({ kind, account }: { kind: Kind; account: Account }) {
  const { address } = account.status.email;
  const search = { selectors: [`spec.account=${account.metadata.name}`], words: '' };
  const table = useActivity(kind, selectorsOf(new URLSearchParams(), search).join(','));
  const names = useDisplayNames();
  const all = table.rows?.map(decisionOf) ?? [];
  const days = [...new Set(all.map(({ status }) => dayOf(status.lastTimestamp)))];
  const here = `${pathTo('activity')}?${new URLSearchParams({ find: address })}`;
  return (
    <Part id="happened" title={t('people.happened')}>
      {table.failure && <Failure failure={table.failure} retry={table.retry} />}
      {!table.rows && !table.failure && <Loading />}
      {table.rows && all.length === 0 && <p>{t('activity.none')}</p>}
      {days.map((day) => (
        <div key={day}>
          <h3 class="day">{day}</h3>
          <ul class="timeline">
            {all
              .filter(({ status }) => dayOf(status.lastTimestamp) === day)
              .map((decision) => (
                <Event
                  key={decision.metadata.name}
                  decision={decision}
                  names={names}
                  to={`${here}&open=${decision.metadata.name}`}
                />
              ))}
          </ul>
        </div>
      ))}
      <p class="pair">
        {table.isComplete === false && (
          <Button variant="small" busy={table.busy} onPress={() => void table.more()}>
            {t('people.earlier')}
          </Button>
        )}
        {all.length > 0 && (
          <A to={here} look="button small quiet-button">
            {t('console.activity')}
          </A>
        )}
      </p>
    </Part>
  );
}
