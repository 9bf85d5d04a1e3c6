import { useState } from 'preact/hooks';
import type { PolicyDecision } from '../api.js';
import { Button } from '../base/button.js';
import { useCollection } from '../base/api/collection.js';
import { t } from '../base/text/message.js';
import { Status } from '../base/status.js';
import { errorText } from '../base/error-page.js';
import { DecisionList } from './decision-list.js';
import { useNames, type Names } from './names.js';
import { newestFirst } from './newest-first.js';

/** Whether a decision only let a page or a program read, without sharing anything with an app. */
const isRead = ({ spec: { action, client }, status }: PolicyDecision): boolean =>
  status.allowed && client === undefined && ['get', 'list', 'watch'].includes(action);

interface ListProps {
  decisions: readonly PolicyDecision[];
  names: Names;
}

/** Decisions that only let pages read, folded away: there are many, and few people want them. */
function Reads({ decisions, names }: ListProps) {
  const [open, setOpen] = useState(false);
  const label = t('decisions.reads', { count: decisions.length });
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{label}</summary>
      {open && <DecisionList decisions={decisions} names={names} label={label} />}
    </details>
  );
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
  if (!items && failure) {
    return (
      <>
        <Status look="notice bad">{errorText(failure)}</Status>
        <Button onPress={again}>{t('retry')}</Button>
      </>
    );
  }
  if (!items || !names.isKnown) {
    return (
      <p class="hint" aria-busy="true">
        {t('decisions.loading')}
      </p>
    );
  }
  const wanted = newestFirst(
    rule === undefined
      ? items
      : items.filter(({ status }) => status.reasons.some((reason) => reason.rule === rule)),
  );
  const reads = rule === undefined ? wanted.filter(isRead) : [];
  const others = wanted.filter((decision) => !reads.includes(decision));
  return (
    <>
      {failure && <Status look="notice bad">{errorText(failure)}</Status>}
      {wanted.length === 0 && (
        <p class="lead">{t(rule === undefined ? 'decisions.none' : 'decisions.none.rule')}</p>
      )}
      {others.length > 0 && (
        <DecisionList decisions={others} names={names} label={t('decisions.list')} />
      )}
      {reads.length > 0 && <Reads decisions={reads} names={names} />}
    </>
  );
}
