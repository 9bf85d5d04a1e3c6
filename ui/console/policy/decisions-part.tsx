import { useState } from 'preact/hooks';
import type { Account, PolicyDecision } from '../../api.js';
import { Button } from '../../base/button.js';
import { now } from '../../base/api/clock.js';
import { Field } from '../../base/field.js';
import { Form } from '../../base/form.js';
import { format, t } from '../../base/text/message.js';
import { useRead } from '../../base/api/use-read.js';
import { DecisionList } from '../../decisions/decision-list.js';
import type { Names } from '../../decisions/names.js';
import { newestFirst } from '../../decisions/newest-first.js';
import { useConsole } from '../base/console-context.js';
import { Requester, useDisplayNames } from '../activity/decision-names.js';
import { matchesSearch, queryOf, searchOf, type DecisionSearch } from './decision-search.js';
import { kindOf } from '../base/discovery.js';
import { readFirst } from '../base/first-pages.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { listCommand } from '../base/kubectl.js';
import { A, Failure, Kubectl, Loading } from '../base/parts.js';
import { checkText, type CheckResult, type Impact } from './policy-check.js';
import { draftKey, type PolicyDraft } from './policy-draft.js';
import { ImpactCounts } from './policy-impact.js';
import { navigate, pathTo } from '../base/route.js';
import { useStored } from '../base/stored.js';

/** The ages that one can choose, in days. */
const ages = [1, 7, 30];

function SearchForm({ search }: { search: DecisionSearch }) {
  const [typed, setTyped] = useState(search);
  const field = (name: keyof DecisionSearch) => ({
    id: `search-${name}`,
    value: typed[name],
    autoComplete: 'off' as const,
    onText: (text: string) => setTyped({ ...typed, [name]: text }),
  });
  const text = { autoCapitalize: 'none' as const, spellcheck: false, dir: 'auto' as const };
  return (
    <Form
      look="search decision-search"
      role="search"
      onSubmit={() => navigate(pathTo('decisions') + queryOf(typed), true)}
    >
      <Field label={t('policies.person')} {...text} {...field('person')} />
      <Field label={t('policies.app')} {...text} {...field('app')} />
      <Field label={t('policies.rule')} {...text} {...field('rule')} />
      <Field
        label={t('console.decision.result')}
        choices={[
          ['', t('policies.any')],
          ['allowed', t('console.allowed')],
          ['refused', t('console.denied')],
        ]}
        {...field('result')}
      />
      <Field
        label={t('policies.time')}
        choices={[
          ['', t('policies.any')],
          ...ages.map((count) => [String(count), t('policies.days', { count })] as const),
        ]}
        {...field('days')}
      />
      <Button submit>{t('console.search.go')}</Button>
    </Form>
  );
}

/** Returns the name of the account that was searched for, or undefined if there is none. */
async function accountOf(person: string, accounts: Kind | undefined): Promise<string | undefined> {
  if (!person.includes('@') || !accounts) return person;
  const { items } = await readFirst<Account>(accounts.path, {
    fieldSelector: `status.email.address=${person}`,
  });
  return items[0]?.metadata.name;
}

interface Found {
  readonly items: readonly PolicyDecision[];
  readonly hasMore: boolean;
  /** The selector that was sent. */
  readonly selectors: Readonly<Record<string, string>>;
}

/** Reads the first decisions about a person, or about everyone. */
async function readDecisions(
  kind: Kind,
  accounts: Kind | undefined,
  person: string,
): Promise<Found> {
  if (!person) return { selectors: {}, ...(await readFirst<PolicyDecision>(kind.path)) };
  const account = await accountOf(person, accounts);
  if (account === undefined) return { selectors: {}, items: [], hasMore: false };
  const selectors = { fieldSelector: `spec.account=${account}` };
  return { selectors, ...(await readFirst<PolicyDecision>(kind.path, selectors)) };
}

/** What the draft would decide, as far as the dry run names it. */
function DraftDecision({ name, impact }: { name: string; impact: Impact }) {
  const isRefused = impact.nowRefused.includes(name);
  if (!isRefused && !impact.nowAllowed.includes(name)) {
    return <p class="hint">{t('policies.draft.same')}</p>;
  }
  return (
    <p class="hint">
      <span class={`word ${isRefused ? 'refused' : 'allowed'}`}>
        {t(isRefused ? 'policies.draft.refused' : 'policies.draft.allowed')}
      </span>
    </p>
  );
}

/** Tries the draft of this tab on the recorded decisions. */
function DraftTrial({ result, onResult }: TrialProps) {
  const { account, listed } = useConsole();
  const { value: draft } = useStored<PolicyDraft>(account, draftKey);
  const [busy, setBusy] = useState(false);
  const policies = kindOf(listed, 'Policy');
  if (!draft || !policies) {
    return (
      <p class="hint">
        {format('policies.draft.missing', {
          policy: <A to={pathTo('policy')}>{t('console.policy')}</A>,
        })}
      </p>
    );
  }
  const check = async (): Promise<void> => {
    setBusy(true);
    try {
      onResult(await checkText(policies, draft.text));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="tools">
      <Button busy={busy} onPress={() => void check()}>
        {t('policies.draft.try')}
      </Button>
      <div role="group" aria-label={t('policies.impact')}>
        {result?.impact && <ImpactCounts impact={result.impact} />}
        {result?.failure && <Failure failure={result.failure} isChange />}
        {result && result.faults.length > 0 && (
          <p>
            {t('policies.faults', { count: result.faults.length })}{' '}
            <A to={pathTo('policy')}>{t('console.policy')}</A>
          </p>
        )}
      </div>
    </div>
  );
}

interface TrialProps {
  readonly result: CheckResult | undefined;
  readonly onResult: (result: CheckResult) => void;
}

interface ResultsProps {
  readonly decisions: readonly PolicyDecision[];
  readonly names: Names;
}

/** The newest decisions, and what the draft would decide. */
function Results({ decisions, names }: ResultsProps) {
  const [result, setResult] = useState<CheckResult>();
  if (decisions.length === 0) return <p class="lead empty">{t('console.notfound')}</p>;
  return (
    <>
      <DraftTrial result={result} onResult={setResult} />
      <DecisionList
        decisions={decisions}
        names={names}
        label={t('console.decisions')}
        more={(decision) => (
          <>
            <Requester decision={decision} />
            {result?.impact && (
              <DraftDecision name={decision.metadata.name} impact={result.impact} />
            )}
          </>
        )}
      />
    </>
  );
}

interface PersonProps {
  readonly kind: Kind;
  readonly query: URLSearchParams;
  readonly search: DecisionSearch;
  readonly names: Names;
}

/** The decisions about the person of a search that match the rest of it. */
function FoundDecisions({ kind, query, search, names }: PersonProps) {
  const accounts = kindOf(useConsole().listed, 'Account');
  const {
    value: found,
    failure,
    reload,
  } = useRead(() => readDecisions(kind, accounts, search.person), []);
  const matching = (found?.items ?? []).filter((decision) =>
    matchesSearch(decision, search, names, now()),
  );
  return (
    <>
      {failure && <Failure failure={failure} retry={reload} />}
      {!found && !failure && <Loading />}
      {found?.hasMore && (
        <p class="notice">
          {t('console.decisions.some', { count: found.items.length })}{' '}
          {!search.person && t('policies.person.name')}
        </p>
      )}
      {found && <Results key={String(query)} decisions={newestFirst(matching)} names={names} />}
      {found && <Kubectl command={listCommand(kind, found.selectors)} />}
    </>
  );
}

/** The decisions of policy, by person, app, rule, result and time. */
export function DecisionsPart({ kind, query }: { kind: Kind; query: URLSearchParams }) {
  const search = searchOf(query);
  const names = useDisplayNames();
  return (
    <Frame title="console.decisions" part="decisions">
      <p class="lead">{t('console.decisions.lead')}</p>
      <SearchForm key={String(query)} search={search} />
      <FoundDecisions key={search.person} kind={kind} query={query} search={search} names={names} />
    </Frame>
  );
}
