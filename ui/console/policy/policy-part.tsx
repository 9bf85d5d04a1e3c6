import { useState } from 'preact/hooks';
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
import { historyOf, runningTrial, type History } from '../../policy/history.js';
import { useConsole } from '../base/console-context.js';
import { useIsAllowed } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { createCommand } from '../base/kubectl.js';
import { Failure, Kubectl, Loading, Part } from '../base/parts.js';
import { policyBody, useCheck, type CheckResult } from './policy-check.js';
import { draftKey, type PolicyDraft } from './policy-draft.js';
import type { Fault } from './policy-faults.js';
import { PolicyField } from './policy-field.js';
import { PolicyImpact } from './policy-impact.js';
import { PolicyTrial } from './policy-trial.js';
import { useStored } from '../base/stored.js';
import { useRequest } from '../base/use-request.js';

const InForce = ({ policy: { metadata, status } }: { policy: Policy }) => (
  <p class="lead">
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
  readonly onBack: ((policy: Policy) => void) | undefined;
  readonly hasDraft: boolean;
}

function Earlier({ history: { policies, inForce }, onBack, hasDraft }: EarlierProps) {
  const earlier = policies.filter((policy) => policy !== inForce);
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
                <a href={`/policy#${name}`}>
                  <Ltr of={name} />
                </a>
                {onBack && (
                  <Button variant="small" onPress={() => onBack(policy)}>
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
  readonly draft: PolicyDraft;
  readonly inForce: Policy;
  readonly result: CheckResult | undefined;
  readonly isChecking: boolean;
  readonly request: Request;
  readonly onDraft: (draft: PolicyDraft | undefined) => void;
  readonly onSave: (mode?: 'Shadow') => void;
}

/** What a draft would change, and the ways to try it on live requests or put it in force. */
function DraftView({ kind, draft, inForce, result, isChecking, request, ...act }: DraftProps) {
  const { name } = inForce.metadata;
  const { text, description } = draft;
  const canSave = !isChecking && !result?.faults.length;
  return (
    <>
      <PolicyImpact result={result} isChecking={isChecking} />
      <Part id="difference" title={t('policies.difference', { name })}>
        {draft.base !== name && <p class="notice">{t('policies.base', { name })}</p>}
        <Differences
          before={{ name, text: inForce.spec.cedar }}
          after={{ name: t('policies.draft'), text }}
        />
      </Part>
      <Form
        look="policy-form"
        onSubmit={() => {
          if (canSave) act.onSave();
        }}
      >
        <Field
          id="description"
          label={t('policies.description')}
          value={description}
          dir="auto"
          autoComplete="off"
          onText={(next) => act.onDraft({ ...draft, description: next })}
        />
        <Kubectl command={createCommand(policyBody(kind, text, description))} />
        {request.failure && <Failure failure={request.failure} isChange />}
        <div class="pair">
          <Button
            {...(canSave && { variant: 'main' as const })}
            submit
            busy={request.busy}
            progress="console.saving"
            disabled={!canSave}
          >
            {t('policies.putinforce')}
          </Button>
          <Button disabled={!canSave || request.busy} onPress={() => act.onSave('Shadow')}>
            {t('policies.try')}
          </Button>
          <Button onPress={() => act.onDraft(undefined)}>{t('policies.discard')}</Button>
        </div>
      </Form>
    </>
  );
}

const noFaults: readonly Fault[] = [];

interface EditorProps {
  readonly kind: Kind;
  readonly history: History;
  readonly inForce: Policy;
  readonly onCreated: (policy: Policy) => void;
}

/** Returns the message that a policy is in force, or in trial. */
const createdText = ({ metadata: { name }, spec }: Policy): string =>
  t(spec.mode === 'Shadow' ? 'policy.trial.title' : 'policies.done', { name });

/** The draft of this tab, and what is between it and a policy in force. */
function useDraft({ kind, inForce, onCreated }: Omit<EditorProps, 'history'>) {
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
  return { draft, isRestored, created, request, change, save };
}

/** The text in force, the draft of the next one and what it would change, and the earlier ones. */
function Editor({ history, ...props }: EditorProps) {
  const { kind, inForce } = props;
  const mayCreate = useIsAllowed(kind, 'create');
  const trial = runningTrial(history);
  const { draft, isRestored, created, request, change, save } = useDraft(props);
  const { result, isChecking, again } = useCheck(kind, draft?.text);
  const goBack = ({ metadata: { name }, spec: { cedar } }: Policy): void => {
    change({ text: cedar, description: t('policies.back.description', { name }) });
    document.getElementById('policy-text')?.scrollIntoView();
  };
  return (
    <>
      <InForce policy={inForce} />
      {created && <p class="notice">{created}</p>}
      {isRestored && <p class="notice">{t('console.restored')}</p>}
      <PolicyField
        text={draft?.text ?? inForce.spec.cedar}
        faults={(draft && result?.faults) ?? noFaults}
        isReadOnly={!mayCreate}
        onText={(text) => change({ text, description: draft?.description ?? '' })}
      />
      {result?.failure && <Failure failure={result.failure} isChange retry={again} />}
      {draft && (
        <DraftView
          kind={kind}
          draft={draft}
          inForce={inForce}
          result={result}
          isChecking={isChecking}
          request={request}
          onDraft={change}
          onSave={(mode) => void save(draft, mode)}
        />
      )}
      {trial && (
        <PolicyTrial
          kind={kind}
          trial={trial}
          inForce={inForce.metadata.name}
          mayCreate={mayCreate}
          onCreated={props.onCreated}
        />
      )}
      <Earlier
        history={history}
        hasDraft={draft !== undefined}
        onBack={mayCreate && !draft ? goBack : undefined}
      />
    </>
  );
}

/** The policy in force, which may be changed here. */
export function PolicyPart({ kind }: { kind: Kind }) {
  const { items, failure, reload, upsert } = useCollection<Policy>(kind.path);
  const history = items && historyOf(items);
  return (
    <Frame title="console.policy" part="policy">
      {failure && <Failure failure={failure} retry={reload} />}
      {!items && !failure && <Loading />}
      {history?.inForce && (
        <Editor
          kind={kind}
          history={history}
          inForce={history.inForce}
          onCreated={(policy) => {
            upsert(policy);
            announce(createdText(policy));
          }}
        />
      )}
    </Frame>
  );
}
