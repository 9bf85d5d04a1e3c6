import { useState } from 'preact/hooks';
import type { PolicyDecision } from '../../api.js';
import { Button } from '../../base/button.js';
import { now } from '../../base/api/clock.js';
import { useRead } from '../../base/api/use-read.js';
import { t } from '../../base/text/message.js';
import { DecisionTitle } from '../../decisions/decision-row.js';
import type { Names } from '../../decisions/names.js';
import { ruleTitle } from '../../decisions/rule-words.js';
import { decisionOf, outcomeLook, outcomeOf } from '../activity/activity-words.js';
import { addressWith, columnsOf, Records } from '../activity/records.js';
import { useConsole } from '../base/console-context.js';
import { kindOf } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { A, Day, Failure } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { useStored } from '../base/stored.js';
import { useRequest } from '../base/use-request.js';
import type { DataColumn } from '../table/column.js';
import { anyValue, type FilterChoice } from '../table/filter.js';
import { useDisplayNames, Who } from '../activity/decision-names.js';
import { searchOf, usualOf } from './decision-search.js';
import { checkText, type CheckResult, type Impact } from './policy-check.js';
import { draftKey, type PolicyDraft } from './policy-draft.js';

const path = pathTo('decisions');

/** The ages that one can choose, in days. */
const ages = [1, 7, 30];

/** Returns why something was decided, in a few words: the rule, or how it failed. */
function reasonOf(decision: PolicyDecision): string {
  const { outcome, reasons } = decision.status;
  const [reason] = reasons;
  if (outcome || !reason) return outcome ? outcomeOf(decision) : '';
  if (reason.rule === 'default') return t('activity.reason.default');
  return reason.rule === 'error' ? t('activity.reason.error') : ruleTitle(reason.rule, reason);
}

/** When it was, with the mark of how it ended. */
const MarkedTime = ({ decision }: { decision: PolicyDecision }) => (
  <span class={outcomeLook(decision)}>
    <span class="quiet">{outcomeOf(decision)} </span>
    <Day of={decision.status.lastTimestamp} />
  </span>
);

const Title = (props: { decision: PolicyDecision; names: Names }) => (
  <span class="happened">
    <DecisionTitle {...props} />
  </span>
);

/** Who, and what below it where there is room for two columns only. */
const WhoAndWhat = (props: { decision: PolicyDecision; names: Names }) => (
  <>
    <Who decision={props.decision} />
    <span class="narrow">
      <Title {...props} />
    </span>
  </>
);

function columnsOfDecisions(names: Names): DataColumn[] {
  const { time, who, what, outcome } = columnsOf(names);
  return [
    { ...time, cell: (row) => <MarkedTime decision={decisionOf(row)} /> },
    { ...who, cell: (row) => <WhoAndWhat decision={decisionOf(row)} names={names} /> },
    {
      ...what,
      isSecondary: true,
      cell: (row) => <Title decision={decisionOf(row)} names={names} />,
    },
    { ...outcome, isExtra: true },
    {
      id: 'rule',
      title: t('policies.reason'),
      text: (row) => reasonOf(decisionOf(row)),
      cell: (row) => <bdi class="one-line">{reasonOf(decisionOf(row))}</bdi>,
      isSecondary: true,
    },
    {
      id: 'times',
      title: t('policies.times'),
      text: (row) => String(decisionOf(row).status.count),
      isNumber: true,
      isSecondary: true,
    },
  ];
}

/** The conditions, with those that are usually in force. */
function choicesOf(query: URLSearchParams): FilterChoice[] {
  const usual = usualOf(query);
  return [
    {
      id: 'result',
      title: t('console.decision.result'),
      usual: usual.result,
      options: [
        ['refused', t('console.denied')],
        ['allowed', t('console.allowed')],
      ],
    },
    {
      id: 'reads',
      title: t('policies.reads'),
      usual: usual.reads,
      options: [['out', t('policies.reads.out')]],
    },
    {
      id: 'days',
      title: t('policies.time'),
      options: ages.map((count) => [String(count), t('policies.days', { count })] as const),
    },
    { id: 'person', title: t('policies.person') },
    { id: 'app', title: t('policies.app') },
    { id: 'rule', title: t('policies.rule') },
    { id: 'object', title: t('policy.on') },
  ];
}

/** What the dry run of the draft says about one decision. */
function DraftDecision({ name, impact }: { name: string; impact: Impact }) {
  const isRefused = impact.nowRefused.includes(name);
  const isAllowed = impact.nowAllowed.includes(name);
  if (!isRefused && !isAllowed) return <p class="hint">{t('policies.draft.same')}</p>;
  return (
    <p class={isRefused ? 'state bad square' : 'state ok'}>
      {t(isRefused ? 'policies.draft.refused' : 'policies.draft.allowed')}
    </p>
  );
}

/** Tries the draft of this tab on a decision. */
function DraftTrial({ name }: { name: string }) {
  const { account, listed } = useConsole();
  const { value: draft } = useStored<PolicyDraft>(account, draftKey);
  const [result, setResult] = useState<CheckResult>();
  const { busy, run } = useRequest();
  const policies = kindOf(listed, 'Policy');
  if (!draft || !policies) return null;
  const check = (): Promise<boolean> =>
    run(async () => setResult(await checkText(policies, draft.text)));
  return (
    <div role="group" aria-label={t('policies.impact')}>
      {!result && (
        <Button variant="small" busy={busy} onPress={() => void check()}>
          {t('policies.draft.try')}
        </Button>
      )}
      {result?.impact && <DraftDecision name={name} impact={result.impact} />}
      {result?.failure && <Failure failure={result.failure} isChange />}
      {result && result.faults.length > 0 && (
        <p>
          {t('policies.faults', { count: result.faults.length })}{' '}
          <A to={pathTo('policy')}>{t('console.policy')}</A>
        </p>
      )}
    </div>
  );
}

/** Says that nothing was refused, and offers to see what was allowed. */
const Empty = ({ query }: { query: URLSearchParams }) => (
  <>
    <p>{t('policies.none')}</p>
    <A to={addressWith(path, query, 'result', anyValue)} look="button small">
      {t('policies.none.all')}
    </A>
  </>
);

/** Returns the timestamp since when decisions of the last days are. */
function sinceOf(query: URLSearchParams): string | undefined {
  const days = Number(query.get('days'));
  return days > 0 ? new Date(now() - days * 86_400_000).toISOString() : undefined;
}

/** The decisions of policy by person, app, rule, result and time; refusals unless others are asked for. */
export function DecisionsPart({ kind, query }: { kind: Kind; query: URLSearchParams }) {
  const accounts = kindOf(useConsole().listed, 'Account');
  const names = useDisplayNames();
  const { value: search } = useRead(() => searchOf(query, accounts), [String(query)]);
  return (
    <Frame title="console.decisions" part="decisions">
      {search && (
        <Records
          kind={kind}
          label={t('console.decisions')}
          resource="decisions"
          path={path}
          query={query}
          names={names}
          columns={columnsOfDecisions(names)}
          choices={choicesOf(query)}
          selectors={search.selectors}
          words={search.words}
          since={sinceOf(query)}
          empty={<Empty query={query} />}
          more={({ metadata }) => <DraftTrial name={metadata.name} />}
        />
      )}
    </Frame>
  );
}
