import { useState } from 'preact/hooks';
import type { PolicyDecision } from '../api.js';
import { Button } from '../base/button.js';
import { useCollection } from '../base/collection.js';
import { t } from '../base/message.js';
import { errorText } from '../base/error-page.js';
import { DecisionRow } from './decision-row.js';
import { useNames } from './names.js';

/** Decisions shown at first, and added by each "Show more". */
const pageSize = 20;

const newestFirst = (all: readonly PolicyDecision[]): PolicyDecision[] =>
  [...all].sort(
    (a, b) =>
      b.status.lastTimestamp.localeCompare(a.status.lastTimestamp) ||
      Number(b.metadata.resourceVersion) - Number(a.metadata.resourceVersion),
  );

/** Shows more decisions and moves the focus to the first new one. */
function useMore(): { max: number; more: () => void } {
  const [max, set] = useState(pageSize);
  const more = (): void => {
    set(max + pageSize);
    requestAnimationFrame(() =>
      document.querySelectorAll<HTMLElement>('.decision')[max]?.querySelector('a')?.focus(),
    );
  };
  return { max, more };
}

interface Props {
  /** The signed-in account. */
  account: string;
  /** Only decisions of this rule. */
  rule?: string | undefined;
}

/**
 * The decisions about one person, newest first and live, below a heading of the page. The API lists
 * by name, so all of them are read to find the newest.
 */
export function Decisions({ account, rule }: Props) {
  const {
    items,
    failure,
    reload: again,
  } = useCollection<PolicyDecision>('policydecisions', {
    fieldSelector: `spec.account=${account}`,
  });
  const names = useNames(account);
  const { max, more } = useMore();
  if (!items && failure)
    return (
      <>
        <p class="notice bad">{errorText(failure)}</p>
        <Button onPress={again}>{t('retry')}</Button>
      </>
    );
  if (!items)
    return (
      <p class="hint" aria-busy="true">
        {t('decisions.loading')}
      </p>
    );
  const wanted = newestFirst(
    rule === undefined
      ? items
      : items.filter(({ status }) => status.reasons.some((reason) => reason.rule === rule)),
  );
  if (wanted.length === 0)
    return <p class="lead">{t(rule === undefined ? 'decisions.none' : 'decisions.none.rule')}</p>;
  const rest = wanted.length > max;
  return (
    <>
      {failure && <p class="notice bad">{errorText(failure)}</p>}
      <p class="hint">
        {rest
          ? t('decisions.shown.some', { shown: max, count: wanted.length })
          : t('decisions.shown', { count: wanted.length })}
      </p>
      <ul class="decisions" aria-label={t('decisions.list')}>
        {wanted.slice(0, max).map((decision) => (
          <DecisionRow key={decision.metadata.name} decision={decision} names={names} />
        ))}
      </ul>
      {rest && <Button onPress={more}>{t('decisions.more')}</Button>}
    </>
  );
}
