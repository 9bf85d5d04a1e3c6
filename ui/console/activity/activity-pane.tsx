import type { ComponentChildren } from 'preact';
import type { PolicyDecision } from '../../api.js';
import { Icon } from '../../base/frame/icon.js';
import { format, Ltr, t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { useRead } from '../../base/api/use-read.js';
import type { Names } from '../../decisions/names.js';
import { newestFirst } from '../../decisions/newest-first.js';
import type { MessageID } from '../../messages/catalog.js';
import { readFirst } from '../base/first-pages.js';
import type { Kind } from '../base/kind.js';
import { getCommand } from '../base/kubectl.js';
import { A, Code, Day, Failure, Kubectl } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { Who } from './decision-names.js';
import { appOf, From, methodOf, Outcome, What } from './activity-words.js';

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

interface Props {
  kind: Kind;
  decision: PolicyDecision;
  names: Names;
  /** Where the table is without the pane. */
  closed: string;
}

/** One sign-in or change: who, from where, by which rule, its Reference, and the steps before it. */
export function ActivityPane({ kind, decision, names, closed }: Props) {
  const { spec, status, metadata } = decision;
  const app = appOf(decision);
  const { auditID, network } = status.request ?? {};
  const rule = status.reasons[0]?.rule;
  return (
    <aside class="pane" aria-labelledby="pane-title">
      <p class="pane-head">
        <Outcome decision={decision} /> <Day of={status.lastTimestamp} />
        <a
          href={closed}
          class="button small icon-only quiet-button"
          aria-label={t('activity.close')}
        >
          <Icon of="x" />
        </a>
      </p>
      <h2 id="pane-title">
        {format('activity.title', {
          who: <Who decision={decision} />,
          what: <What decision={decision} names={names} />,
        })}
      </h2>
      <dl class="values">
        <Fact title="activity.app">{app && names.client(app)}</Fact>
        <Fact title="activity.method">{methodOf(decision)}</Fact>
        <Fact title="activity.from">
          <From decision={decision} />
        </Fact>
        <Fact title="activity.rule">
          {rule && (
            <a href={`/policy#${new URLSearchParams({ [spec.policy]: '', rule })}`}>
              <Ltr of={rule} />
            </a>
          )}
        </Fact>
      </dl>
      {auditID && <Code text={auditID} label={t('activity.reference')} />}
      <Steps kind={kind} decision={decision} names={names} />
      <p class="tools">
        {spec.account && (
          <A to={pathTo('people', spec.account)} look="button small">
            {t('activity.person')}
          </A>
        )}
        {network && (
          <A
            to={`${pathTo('activity')}?${new URLSearchParams({ network })}`}
            look="button small quiet-button"
          >
            {t('activity.network')}
          </A>
        )}
      </p>
      <Kubectl command={getCommand(kind, metadata.name)} />
    </aside>
  );
}
