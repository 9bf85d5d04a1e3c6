import type { Account, PolicyDecision } from '../../api.js';
import { useState } from 'preact/hooks';
import { ApiError, call } from '../../base/api/api.js';
import { useRead } from '../../base/api/use-read.js';
import { newestFirst } from '../../decisions/newest-first.js';
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
import { appOf, methodOf, Outcome, What } from '../activity/activity-words.js';
import type { Kind } from '../base/kind.js';
import { A, Failure, Loading, Part } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { useDisplayNames } from '../activity/decision-names.js';

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

interface Decisions {
  readonly metadata: { readonly continue?: string };
  readonly items: readonly PolicyDecision[];
}

/** How many records are read at first, and how many more each time. */
const pageSize = 30;

/** Reads the newest records of an account; of those whom a rule shows some, in the order of names. */
async function readNewest(kind: Kind, account: string, count: number): Promise<Decisions> {
  const search = { selectors: [`spec.account=${account}`], words: '' };
  const fieldSelector = selectorsOf(new URLSearchParams(), search).join(',');
  const query = new URLSearchParams({ fieldSelector, limit: String(count) });
  const read = (more: string): Promise<Decisions> => call('GET', `${kind.path}?${query}${more}`);
  return read('&orderBy=status.lastTimestamp').catch((thrown: unknown) => {
    if (thrown instanceof ApiError && thrown.code === 400) return read('');
    throw thrown;
  });
}

/**
 * Sign-ins and changes of a person, newest first, by day. Without a watch: the page has one for each of
 * its parts, and a browser opens six connections to a server.
 */
export function PersonTimeline({ kind, account }: { kind: Kind; account: Account }) {
  const { name, resourceVersion } = account.metadata;
  const [count, setCount] = useState(pageSize);
  const { value, failure, reload } = useRead(
    () => readNewest(kind, name, count),
    [name, resourceVersion, count],
  );
  const names = useDisplayNames();
  const all = newestFirst(value?.items ?? []);
  const days = [...new Set(all.map(({ status }) => dayOf(status.lastTimestamp)))];
  const address = new URLSearchParams({ find: account.status.email.address });
  const here = `${pathTo('activity')}?${address}`;
  return (
    <Part id="happened" title={t('people.happened')}>
      {failure && <Failure failure={failure} retry={reload} />}
      {!value && !failure && <Loading />}
      {value && all.length === 0 && <p>{t('activity.none')}</p>}
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
        {value?.metadata.continue && (
          <Button variant="small" onPress={() => setCount(count + pageSize)}>
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
