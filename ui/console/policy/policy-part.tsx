import { useEffect, useState } from 'preact/hooks';
import type { Policy } from '../../api.js';
import { call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { useCollection } from '../../base/api/collection.js';
import { Field } from '../../base/field.js';
import { Form } from '../../base/form.js';
import { announce } from '../../base/live-region.js';
import { format, Ltr, t, truncate } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import type { Request } from '../../base/api/use-request.js';
import { Differences } from '../../policy/differences.js';
import { Span } from '../../policy/facts.js';
import {
  historyOf,
  linesOf,
  policyNamed,
  runningTrial,
  type History,
} from '../../policy/history.js';
import { useConsole } from '../base/console-context.js';
import { useIsAllowed } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { createCommand } from '../base/kubectl.js';
import { rulesIn, type RuleText } from '../../policy/rules.js';
import { A, Failure, Kubectl, Loading, Part } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { policyBody, useCheck, type CheckResult } from './policy-check.js';
import { draftKey, type PolicyDraft } from './policy-draft.js';
import type { Fault, TextPosition } from './policy-faults.js';
import { PolicyField } from './policy-field.js';
import { PolicyImpact } from './policy-impact.js';
import { PolicyTrial } from './policy-trial.js';
import { RuleIndex, RuleWords, useRules, type IndexedRule } from './rule-index.js';
import { StarterMenu } from './starter-menu.js';
import { useStored } from '../base/stored.js';
import { useRequest } from '../base/use-request.js';

const InForce = ({ policy: { metadata, status } }: { policy: Policy }) => (
  <p class="hint in-force">
    {format('policies.inforce', {
      name: <Ltr of={metadata.name} />,
      when: <Timestamp of={status.inForceSince!} />,
    })}{' '}
    <a href="/policy">{t('policies.words')}</a>
  </p>
);

interface EarlierProps {
  readonly history: History;
  /** Absent if the caller may not go back, or has a draft that would be lost. */
  readonly onBack: ((text: string, description: string) => void) | undefined;
  readonly hasDraft: boolean;
}

function Earlier({ history, onBack, hasDraft }: EarlierProps) {
  const earlier = history.policies.filter((policy) => policy !== history.inForce);
  return (
    <Part id="earlier" title={t('policy.earlier')}>
      {earlier.length === 0 && <p class="hint">{t('policy.earlier.none')}</p>}
      {earlier.length > 0 && hasDraft && <p class="hint">{t('policies.back.draft')}</p>}
      <ul class="decisions" aria-label={t('policy.earlier')}>
        {earlier.map((policy) => {
          const { name } = policy.metadata;
          return (
            <li class="decision" key={name}>
              <h3>
                <A to={`${pathTo('policy')}?${new URLSearchParams({ compare: name })}`}>
                  <Ltr of={name} />
                </A>
                {onBack && (
                  <Button
                    variant="small"
                    onPress={() =>
                      onBack(policy.spec.cedar, t('policies.back.description', { name }))
                    }
                  >
                    {t('policies.back', { name })}
                  </Button>
                )}
              </h3>
              {policy.spec.description && (
                <p class="hint">
                  <bdi>{truncate(policy.spec.description, 1024)}</bdi>
                </p>
              )}
              <p class="hint">
                <Span policy={policy} />
              </p>
            </li>
          );
        })}
      </ul>
    </Part>
  );
}

interface DraftProps {
  readonly kind: Kind;
  readonly draft: PolicyDraft | undefined;
  readonly result: CheckResult | undefined;
  readonly isChecking: boolean;
  readonly request: Request;
  readonly onDraft: (draft: PolicyDraft | undefined) => void;
  readonly onSave: () => void;
}

/** What a draft would change, what it is for, and the request that puts it in force. */
function DraftView({ kind, draft, result, isChecking, request, onDraft, onSave }: DraftProps) {
  if (!draft) return null;
  const { text, description } = draft;
  return (
    <>
      <PolicyImpact result={result} isChecking={isChecking} />
      <Form look="policy-form" onSubmit={onSave}>
        <Field
          id="description"
          label={t('policies.description')}
          value={description}
          dir="auto"
          autoComplete="off"
          onText={(next) => onDraft({ ...draft, description: next })}
        />
        <Kubectl command={createCommand(policyBody(kind, text, description))} />
        {request.failure && <Failure failure={request.failure} isChange />}
        <Button onPress={() => onDraft(undefined)}>{t('policies.discard')}</Button>
      </Form>
    </>
  );
}

/** The ways to try a draft on live requests, and to put it in force. */
const DraftActs = ({
  canSave,
  busy,
  onSave,
}: {
  canSave: boolean;
  busy: boolean;
  onSave: (mode?: 'Shadow') => void;
}) => (
  <>
    <Button disabled={!canSave || busy} onPress={() => onSave('Shadow')}>
      {t('policies.try')}
    </Button>
    <Button
      variant="main"
      busy={busy}
      progress="console.saving"
      disabled={!canSave}
      onPress={() => onSave()}
    >
      {t('policies.putinforce')}
    </Button>
  </>
);

const noFaults: readonly Fault[] = [];

interface EditorProps {
  readonly kind: Kind;
  /** The rule to begin with, and the policy to compare with. */
  readonly query: URLSearchParams;
  readonly history: History;
  readonly inForce: Policy;
  readonly onCreated: (policy: Policy) => void;
}

/** Returns the message that a policy is in force, or in trial. */
const createdText = ({ metadata: { name }, spec }: Policy): string =>
  t(spec.mode === 'Shadow' ? 'policy.trial.title' : 'policies.done', { name });

/** The draft of this tab, and what is between it and a policy in force. */
function useDraft({ kind, inForce, onCreated }: Omit<EditorProps, 'history' | 'query'>) {
  const { account } = useConsole();
  const { value: draft, isRestored, set } = useStored<PolicyDraft>(account, draftKey);
  const [created, setCreated] = useState<string>();
  const request = useRequest();
  const base = draft?.base ?? inForce.metadata.name;
  const change = (next: Omit<PolicyDraft, 'base'> | undefined): void => {
    setCreated(undefined);
    request.clear();
    set(next && next.text !== inForce.spec.cedar ? { ...next, base } : undefined);
  };
  const save = ({ text, description }: PolicyDraft, mode?: 'Shadow'): Promise<boolean> =>
    request.run(async () => {
      const body = policyBody(kind, text, description, mode);
      const policy = await call<Policy>('POST', kind.path, body);
      set(undefined);
      onCreated(policy);
      setCreated(createdText(policy));
    });
  const write = (text: string, description = draft?.description ?? ''): void =>
    change({ text, description });
  return { draft, isRestored, created, request, change, write, save };
}

/** What is between a policy and the draft, or the one in force; nothing if they are one. */
function Changes({
  history,
  name,
  draft,
}: {
  history: History;
  name: string;
  draft: string | undefined;
}) {
  const { metadata, spec } = history.inForce!;
  const before = policyNamed(history, name);
  if (!before || (draft === undefined && before === history.inForce)) return null;
  const after = draft === undefined ? metadata.name : t('policies.draft');
  return (
    <Part id="difference" title={t('policies.difference', { name })}>
      <Differences
        before={{ name, text: before.spec.cedar }}
        after={{ name: after, text: draft ?? spec.cedar }}
      />
    </Part>
  );
}

interface NoticesProps {
  created: string | undefined;
  isRestored: boolean;
  /** The policy that was in force when the draft was begun, and the one that is now. */
  base: string | undefined;
  name: string;
}

const Notices = ({ created, isRestored, base, name }: NoticesProps) => (
  <>
    {created && <p class="notice">{created}</p>}
    {isRestored && <p class="notice">{t('console.restored')}</p>}
    {base !== undefined && base !== name && <p class="notice">{t('policies.base', { name })}</p>}
  </>
);

/** The place in a text: where the cursor is, the rule there, and a place to go to. */
function usePlace(rules: readonly IndexedRule[], asked: string | null) {
  const [line, setLine] = useState(0);
  const [place, setPlace] = useState<TextPosition>();
  const goTo = (rule: RuleText | undefined): void => {
    if (rule) setPlace({ line: rule.first, column: 1 });
  };
  useEffect(() => goTo(rules.find(({ id }) => id === asked)), [asked]);
  const current =
    rules.find(({ first, last }) => first <= line && line <= last) ??
    rules.find(({ id }) => line === 0 && id === asked);
  return { current, place, setLine, goTo };
}

/** The text with its rules beside it, what a draft of the next one would change, and the earlier ones. */
function Editor({ history, query, ...props }: EditorProps) {
  const { kind, inForce, onCreated } = props;
  const { name } = inForce.metadata;
  const mayCreate = useIsAllowed(kind, 'create');
  const trial = runningTrial(history);
  const { draft, isRestored, created, request, change, write, save } = useDraft(props);
  const { result, isChecking, again } = useCheck(kind, draft?.text);
  const text = draft?.text ?? inForce.spec.cedar;
  const rules = useRules(text, inForce);
  const { current, place, setLine, goTo } = usePlace(rules, query.get('rule'));
  const insert = (next: string): void => {
    write(next);
    goTo(rulesIn(next).findLast(({ id }) => !rules.some((rule) => rule.id === id)));
  };
  const canSave = !isChecking && !result?.faults.length;
  const put = (mode?: 'Shadow'): void => {
    if (draft && canSave) void save(draft, mode);
  };
  const checked = { kind, draft, result, isChecking, request, onDraft: change, onSave: put };
  return (
    <Frame
      title="console.policy"
      part="policy"
      actions={draft && <DraftActs canSave={canSave} busy={request.busy} onSave={put} />}
    >
      <InForce policy={inForce} />
      <Notices created={created} isRestored={isRestored} base={draft?.base} name={name} />
      <div class="policy-panes">
        <RuleIndex rules={rules} current={current} choose={goTo} />
        <div>
          <p class="text-tools">
            {t('policies.counts', { rules: rules.length, lines: linesOf(text).length })}
            {mayCreate && <StarterMenu text={text} insert={insert} />}
          </p>
          <PolicyField
            text={text}
            faults={(draft && result?.faults) ?? noFaults}
            isReadOnly={!mayCreate}
            onText={write}
            onLine={setLine}
            place={place}
          />
          {result?.failure && <Failure failure={result.failure} isChange retry={again} />}
          <Changes history={history} name={query.get('compare') ?? name} draft={draft?.text} />
        </div>
        <div>
          <DraftView {...checked} />
          {current && <RuleWords rule={current} />}
          {trial && <PolicyTrial {...{ kind, trial, inForce, mayCreate, onCreated }} />}
          <Earlier
            history={history}
            hasDraft={draft !== undefined}
            onBack={mayCreate && !draft ? write : undefined}
          />
        </div>
      </div>
    </Frame>
  );
}

/** The policy in force, which may be changed here. */
export function PolicyPart({ kind, query }: { kind: Kind; query: URLSearchParams }) {
  const { items, failure, reload, upsert } = useCollection<Policy>(kind.path);
  const history = items && historyOf(items);
  if (history?.inForce) {
    return (
      <Editor
        kind={kind}
        query={query}
        history={history}
        inForce={history.inForce}
        onCreated={(policy) => {
          upsert(policy);
          announce(createdText(policy));
        }}
      />
    );
  }
  return (
    <Frame title="console.policy" part="policy">
      {failure ? <Failure failure={failure} retry={reload} /> : <Loading />}
    </Frame>
  );
}
