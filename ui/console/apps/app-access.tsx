import { useState } from 'preact/hooks';
import type { ObjectMeta, Policy } from '../../api.js';
import { call } from '../../base/api/api.js';
import { useCollection } from '../../base/api/collection.js';
import { Button } from '../../base/button.js';
import { announce } from '../../base/live-region.js';
import { addMessages } from '../../base/text/i18n.js';
import { t } from '../../base/text/message.js';
import policiesMessages from '../../messages/en/policies.json';
import policyMessages from '../../messages/en/policy.json';
import { Differences } from '../../policy/differences.js';
import { historyOf } from '../../policy/history.js';
import { useConsole } from '../base/console-context.js';
import { kindOf, useIsAllowed } from '../base/discovery.js';
import type { AnyObject, Kind } from '../base/kind.js';
import { createCommand } from '../base/kubectl.js';
import { A, Failure, Kubectl, Loading, Part } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { useRequest } from '../base/use-request.js';
import { policyBody, useCheck } from '../policy/policy-check.js';
import { ImpactCounts } from '../policy/policy-impact.js';
import { appRuleIn, ruleOf, withAppRule } from '../policy/app-rule.js';

addMessages(policiesMessages);
addMessages(policyMessages);

interface Group {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly displayName: string };
}

interface ChoiceProps {
  groups: readonly Group[];
  chosen: ReadonlySet<string>;
  isReadOnly: boolean;
  choose: (names: ReadonlySet<string>) => void;
}

/** Everyone, or the members of the groups that are ticked. */
const Choice = ({ groups, chosen, isReadOnly, choose }: ChoiceProps) => (
  <fieldset disabled={isReadOnly}>
    <legend class="quiet">{t('console.may.title')}</legend>
    <label class="choice-line">
      <input type="radio" checked={chosen.size === 0} onChange={() => choose(new Set())} />
      {t('console.may.everyone')}
    </label>
    {groups.map(({ metadata: { name }, spec }) => (
      <label class="choice-line" key={name}>
        <input
          type="checkbox"
          checked={chosen.has(name)}
          onChange={({ currentTarget }) => {
            const next = new Set(chosen);
            if (currentTarget.checked) next.add(name);
            else next.delete(name);
            choose(next);
          }}
        />
        {t('console.may.members', { group: spec.displayName })}
      </label>
    ))}
  </fieldset>
);

interface DraftProps {
  kind: Kind;
  inForce: Policy;
  text: string;
  description: string;
  cancel: () => void;
  saved: (policy: Policy) => void;
}

/** The rule as a difference and what it would change, before it is in force. */
function Draft({ kind, inForce, text, description, cancel, saved }: DraftProps) {
  const { busy, failure, run } = useRequest();
  const { result, isChecking } = useCheck(kind, text);
  const body = policyBody(kind, text, description);
  const isSound = result && !isChecking && result.faults.length === 0 && !result.failure;
  const save = (): Promise<boolean> =>
    run(async () => saved(await call<Policy>('POST', kind.path, body)));
  return (
    <>
      <Differences
        before={{ name: inForce.metadata.name, text: inForce.spec.cedar }}
        after={{ name: t('policies.draft'), text }}
      />
      {isChecking && <Loading />}
      {result?.impact && !isChecking && <ImpactCounts impact={result.impact} />}
      {result?.failure && <Failure failure={result.failure} isChange />}
      {result?.faults.map(({ message }) => (
        <p class="error">{message}</p>
      ))}
      {failure && <Failure failure={failure} isChange />}
      <div class="pair">
        <Button
          variant="main"
          busy={busy}
          progress="console.saving"
          disabled={!isSound}
          onPress={() => void save()}
        >
          {t('policies.putinforce')}
        </Button>
        <Button onPress={cancel}>{t('console.cancel')}</Button>
      </div>
      <Kubectl command={createCommand(body)} />
    </>
  );
}

interface Props {
  client: AnyObject;
  policies: Kind;
  groups: readonly Group[];
  inForce: Policy;
  saved: (policy: Policy) => void;
}

function Access({ client, policies, groups, inForce, saved }: Props) {
  const { name } = client.metadata;
  const mayCreate = useIsAllowed(policies, 'create');
  const { cedar } = inForce.spec;
  const rule = appRuleIn(cedar, name);
  const [draft, setDraft] = useState<ReadonlySet<string>>();
  const [isSaved, setSaved] = useState(false);
  const app = String(client.spec?.displayName ?? name);
  if (rule.isForeign) {
    return (
      <p>
        {t('console.may.foreign', { rule: ruleOf(name) })}{' '}
        <A to={pathTo('policy')}>{t('console.policy')}</A>
      </p>
    );
  }
  const names = [...(draft ?? rule.groups)];
  const shown = names.map(
    (one) => groups.find(({ metadata }) => metadata.name === one)?.spec.displayName ?? one,
  );
  const list = new Intl.ListFormat('en', { type: 'disjunction' }).format(shown);
  const text = withAppRule(cedar, name, names, `${app} is for members of ${list}.`);
  return (
    <>
      <Choice
        groups={groups}
        chosen={new Set(names)}
        isReadOnly={!mayCreate}
        choose={(next) => {
          setSaved(false);
          setDraft(next);
        }}
      />
      {isSaved && <p class="saved">{t('console.may.saved')}</p>}
      {draft && text !== cedar && (
        <Draft
          kind={policies}
          inForce={inForce}
          text={text}
          description={t('console.may.description', { app })}
          cancel={() => setDraft(undefined)}
          saved={(policy) => {
            saved(policy);
            setDraft(undefined);
            setSaved(true);
            announce(t('console.may.saved'));
          }}
        />
      )}
    </>
  );
}

/** Who may use an app, by one marked rule of the policy. */
export function AppAccess({ client }: { client: AnyObject }) {
  const { listed } = useConsole();
  const [policies, groups] = [kindOf(listed, 'Policy'), kindOf(listed, 'Group')];
  if (!policies || !groups) return null;
  return <ReadAccess client={client} policies={policies} groupKind={groups} />;
}

interface ReadProps {
  client: AnyObject;
  policies: Kind;
  groupKind: Kind;
}

function ReadAccess({ client, policies, groupKind }: ReadProps) {
  const { items, failure, reload, upsert } = useCollection<Policy>(policies.path);
  const groups = useCollection<Group>(groupKind.path);
  const inForce = items && historyOf(items).inForce;
  const failed = failure ?? groups.failure;
  return (
    <Part id="may" title={t('console.may.title')}>
      {failed && <Failure failure={failed} retry={failure ? reload : groups.reload} />}
      {!failed && (!inForce || !groups.items) && <Loading />}
      {inForce && groups.items && (
        <Access
          client={client}
          policies={policies}
          groups={groups.items}
          inForce={inForce}
          saved={upsert}
        />
      )}
    </Part>
  );
}
