import type { ComponentChildren } from 'preact';
import type { PolicyDecision } from '../../api.js';
import { Icon } from '../../base/frame/icon.js';
import { format, Ltr, t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { useRead } from '../../base/api/use-read.js';
import type { Names } from '../../decisions/names.js';
import { AlternativeList } from '../../decisions/alternative-list.js';
import { DecisionTimes, DecisionTitle, Reason } from '../../decisions/decision-row.js';
import { newestFirst } from '../../decisions/newest-first.js';
import type { MessageID } from '../../messages/catalog.js';
import { readFirst } from '../base/first-pages.js';
import type { Kind } from '../base/kind.js';
import { getCommand } from '../base/kubectl.js';
import { A, Code, Failure, Kubectl } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { Who } from './decision-names.js';
import { groupsOf, JoinGroup } from './join-group.js';
import { appOf, From, methodOf, methodText, Outcome, What } from './activity-words.js';

const Fact = ({ title, children }: { title: MessageID; children: ComponentChildren }) =>
  children ? (
    <div>
      <dt>{t(title)}</dt>
      <dd>{children}</dd>
    </div>
  ) : null;

/** What else one browser did in the same sign-in, in order. */
function Steps({ kind, decision, names }: { kind: Kind; decision: PolicyDecision; names: Names }) {
  const { account, input } = decision.spec;
  const { type, name } = input.caller;
  const { value, failure, reload } = useRead(async () => {
    if (account === undefined || type !== 'Browser') return [];
    const fieldSelector = `spec.account=${account}`;
    const { items } = await readFirst<PolicyDecision>(kind.path, { fieldSelector });
    return newestFirst(items.filter(({ spec }) => spec.input.caller.name === name)).reverse();
  }, [decision.metadata.name]);
  if (failure) return <Failure failure={failure} retry={reload} />;
  if (!value || value.length < 2) return null;
  return (
    <>
      <h3>{t('activity.steps')}</h3>
      <ul class="rows">
        {value.map((step) => (
          <li key={step.metadata.name}>
            <What decision={step} names={names} /> <Outcome decision={step} />{' '}
            <Timestamp of={step.status.lastTimestamp} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** How the person had signed in, and when. */
function SignedIn({ decision }: { decision: PolicyDecision }) {
  const { methods = [], authenticated } = decision.spec.input.facts;
  const words = methods.map((method) => methodText(method)).join(', ');
  if (authenticated === undefined) return <>{words}</>;
  return (
    <>
      {words} <Timestamp of={new Date(authenticated * 1000).toISOString()} />
    </>
  );
}

/** The facts that rules may have asked for, as they were. */
function Facts({ decision, names }: Pick<Props, 'decision' | 'names'>) {
  const { spec, status } = decision;
  const app = appOf(decision);
  const { groups, facts } = spec.input;
  return (
    <dl class="values">
      <Fact title="activity.app">{app && names.client(app)}</Fact>
      <Fact title="activity.method">{!facts.methods && methodOf(decision)}</Fact>
      <Fact title="activity.signedin">{facts.methods && <SignedIn decision={decision} />}</Fact>
      <Fact title="activity.groups">{groups?.length && <Ltr of={groups.join(', ')} />}</Fact>
      <Fact title="activity.from">{status.request && <From decision={decision} />}</Fact>
    </dl>
  );
}

interface Props {
  kind: Kind;
  decision: PolicyDecision;
  names: Names;
  /** Where the table is without the pane. */
  closed: string;
  children?: ComponentChildren;
}

/**
 * One record: who, from where, by which rules and what else would have been allowed, its Reference, and
 * the steps before it.
 */
export function ActivityPane({ kind, decision, names, closed, children }: Props) {
  const { spec, status, metadata } = decision;
  const { auditID, network } = status.request ?? {};
  const { account } = spec;
  const rule = status.reasons[0]?.rule;
  return (
    <aside class="pane" aria-labelledby="pane-title">
      <p class="pane-head">
        <Outcome decision={decision} />
        <A to={closed} look="button small icon-only quiet-button" label={t('activity.close')}>
          <Icon of="x" />
        </A>
      </p>
      <h2 id="pane-title">
        {format('activity.title', {
          who: <Who decision={decision} />,
          what: <DecisionTitle decision={decision} names={names} />,
        })}
      </h2>
      <p class="hint">
        <DecisionTimes {...decision} />
      </p>
      {status.reasons.map((reason) => (
        <Reason key={reason.rule} {...reason} policy={spec.policy} />
      ))}
      <AlternativeList
        decision={decision}
        act={(i) =>
          account &&
          groupsOf(decision, i).map((name) => (
            <JoinGroup key={name} account={account} name={name} />
          ))
        }
      />
      {children}
      <Facts decision={decision} names={names} />
      {auditID && <Code text={auditID} label={t('activity.reference')} />}
      <Steps kind={kind} decision={decision} names={names} />
      <p class="tools">
        {account && (
          <A to={pathTo('people', account)} look="button small">
            {t('activity.person')}
          </A>
        )}
        {rule && <More of={{ rule }} words="activity.rule.all" to="decisions" />}
        {network && <More of={{ network }} words="activity.network" to="activity" />}
      </p>
      <Kubectl command={getCommand(kind, metadata.name)} />
    </aside>
  );
}

/** A link to the other records of the same rule or network. */
const More = ({
  of: conditions,
  words,
  to,
}: {
  of: Record<string, string>;
  words: MessageID;
  to: 'activity' | 'decisions';
}) => (
  <A to={`${pathTo(to)}?${new URLSearchParams(conditions)}`} look="button small quiet-button">
    {t(words)}
  </A>
);
