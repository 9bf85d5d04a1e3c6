import { useState } from 'preact/hooks';
import type { PolicyDecision } from '../../api.js';
import { call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { Ltr, t } from '../../base/text/message.js';
import { useRead } from '../../base/api/use-read.js';
import { DecisionTitle } from '../../decisions/decision-row.js';
import type { Names } from '../../decisions/names.js';
import { useDisplayNames, Who } from '../activity/decision-names.js';
import type { CheckResult, Impact } from './policy-check.js';
import { A, Loading, Part } from '../base/parts.js';
import { pathTo } from '../base/route.js';

/** Decisions shown at first, and added by each "Show more". */
const pageSize = 10;

/** One decision that would change, read by its name. */
function ChangedDecision({ name, names }: { name: string; names: Names }) {
  const { value: decision } = useRead(
    () => call<PolicyDecision>('GET', `policydecisions/${name}`),
    [name],
  );
  const query = new URLSearchParams({ result: 'any', open: name });
  return (
    <li>
      <A to={`${pathTo('decisions')}?${query}`}>
        {decision ? <DecisionTitle decision={decision} names={names} /> : <Ltr of={name} />}
      </A>{' '}
      {decision && <Who decision={decision} />}{' '}
      {decision && decision.status.count > 1 && `×${decision.status.count}`}
    </li>
  );
}

function ChangedDecisions({
  title,
  changed,
  names,
}: {
  title: string;
  changed: readonly string[];
  names: Names;
}) {
  const [max, setMax] = useState(pageSize);
  return (
    <>
      <h3>{title}</h3>
      <ul class="changed-list" aria-label={title}>
        {changed.slice(0, max).map((name) => (
          <ChangedDecision key={name} name={name} names={names} />
        ))}
      </ul>
      {changed.length > max && (
        <Button variant="small" onPress={() => setMax(max + pageSize)}>
          {t('decisions.more')}
        </Button>
      )}
    </>
  );
}

/** Returns how many recorded decisions would change, in each direction. */
export const changeCounts = ({ nowRefused, nowAllowed, unnamed }: Impact) => ({
  refused: nowRefused.length + (unnamed?.nowRefused ?? 0),
  allowed: nowAllowed.length + (unnamed?.nowAllowed ?? 0),
});

/** How many decisions were tried, would change, or could not be tried. */
export function ImpactCounts({ impact }: { impact: Impact }) {
  const { replayed, undecidable, notReached } = impact;
  const { refused, allowed } = changeCounts(impact);
  return (
    <p>
      {t('policies.tried', { count: replayed })}{' '}
      {refused + allowed === 0
        ? t('policies.tried.same')
        : t('policies.tried.changed', { refused, allowed })}{' '}
      {undecidable > 0 && t('policies.tried.undecidable', { count: undecidable })}{' '}
      {notReached !== undefined && t('policies.tried.notreached', { count: notReached })}
    </p>
  );
}

/** How many decisions would change, and which. */
export function ImpactLists({ impact }: { impact: Impact }) {
  const names = useDisplayNames();
  const { refused, allowed } = changeCounts(impact);
  return (
    <>
      <ImpactCounts impact={impact} />
      {refused > 0 && (
        <ChangedDecisions
          title={t('policies.nowrefused')}
          changed={impact.nowRefused}
          names={names}
        />
      )}
      {allowed > 0 && (
        <ChangedDecisions
          title={t('policies.nowallowed')}
          changed={impact.nowAllowed}
          names={names}
        />
      )}
    </>
  );
}

/** What would change with a text: the recorded decisions that it decides otherwise. */
export function PolicyImpact({
  result,
  isChecking,
}: {
  result: CheckResult | undefined;
  isChecking: boolean;
}) {
  const impact = result?.impact;
  return (
    <Part id="impact" title={t('policies.impact')}>
      {isChecking && <Loading />}
      {impact && !isChecking && <ImpactLists key={result.text} impact={impact} />}
      {!impact && !isChecking && <p class="hint">{t('policies.impact.none')}</p>}
    </Part>
  );
}
