import type { Policy } from '../api.js';
import { truncate, Ltr, t, format } from '../base/text/message.js';
import { View } from '../base/view.js';
import type { MessageID } from '../messages/catalog.js';
import { authorOf, Facts, Span } from './facts.js';
import { isTrial, previousPolicy, runningTrial, type History } from './history.js';
import { PolicyText } from './policy-text.js';
import { comparisonLink, placeLink } from './route.js';
import { RuleList } from './rule-list.js';

/** The parts of the page, of which one is shown. */
const tabs = ['rules', 'text', 'earlier'] as const;
type Tab = (typeof tabs)[number];

/** Returns the part that a place is in. */
function tabOf(at: string | undefined): Tab {
  if (at === 'text' || at?.startsWith('line-')) return 'text';
  return at === 'earlier' ? 'earlier' : 'rules';
}

function Tabs({
  tab,
  pinned,
  several,
}: {
  tab: Tab;
  pinned: string | undefined;
  several: boolean;
}) {
  return (
    <nav class="sections" aria-label={t('policy.sections')}>
      <ul>
        {tabs.map((section) => (
          <li key={section}>
            <a
              href={placeLink(pinned, section)}
              aria-current={section === tab ? 'page' : undefined}
            >
              {t(`policy.${section}`)}
            </a>
          </li>
        ))}
        {several && (
          <li>
            <a href="#compare">{t('policy.compare')}</a>
          </li>
        )}
      </ul>
    </nav>
  );
}

function Earlier({ history, me }: { history: History; me: string | undefined }) {
  const earlier = history.policies.filter((policy) => policy !== history.inForce);
  return (
    <section aria-labelledby="earlier">
      <h2 id="earlier" tabIndex={-1}>
        {t('policy.earlier')}
      </h2>
      {earlier.length === 0 && <p class="hint">{t('policy.earlier.none')}</p>}
      <ul class="earlier" aria-label={t('policy.earlier')}>
        {earlier.map((policy) => {
          const {
            metadata: { name },
            spec: { description },
          } = policy;
          const previous = previousPolicy(history, policy);
          return (
            <li key={name}>
              <h3>
                <a href={`#${name}`}>
                  <Ltr of={name} />
                </a>
              </h3>
              {description && (
                <p>
                  <bdi>{truncate(description, 1024)}</bdi>
                </p>
              )}
              <p class="hint">
                <Span policy={policy} />
                {policy.status.author !== undefined && <> · {authorOf(policy, me)}</>}
              </p>
              {previous && (
                <p class="hint links">
                  <a href={comparisonLink(previous.metadata.name, name)}>
                    {format('policy.changes', { name })}
                  </a>
                </p>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

const titleOf = (policy: Policy, isInForce: boolean): MessageID => {
  if (isTrial(policy)) return 'policy.trial.title';
  return isInForce ? 'policy.title' : 'policy.earlier.title';
};

/** Says that another text is compared with the one in force. */
const TrialNotice = ({ name }: { name: string }) => (
  <p class="notice">
    {format('policy.trial.notice', {
      name: (
        <a href={`#${name}`}>
          <Ltr of={name} />
        </a>
      ),
    })}
  </p>
);

interface Props {
  history: History;
  policy: Policy;
  /** The signed-in account. */
  me: string | undefined;
  /** The policy that the address names; links to places in it name it too. */
  pinned: string | undefined;
  /** The place that the address names. */
  at: string | undefined;
}

/** A policy in words, or as text, or the policies before it. */
export function PolicyView({ history, policy, me, pinned, at }: Props) {
  const tab = tabOf(at);
  const { name } = policy.metadata;
  const isInForce = policy === history.inForce;
  const trial = isInForce ? runningTrial(history) : undefined;
  const previous = previousPolicy(history, policy);
  return (
    <View title={titleOf(policy, isInForce)} values={{ name }} phase="policy">
      <p class="lead">{t(isTrial(policy) ? 'policy.trial.lead' : 'policy.lead')}</p>
      {trial && <TrialNotice name={trial.metadata.name} />}
      <Facts policy={policy} me={me} />
      {previous && (
        <p class="links">
          <a href={comparisonLink(previous.metadata.name, name)}>
            {format('policy.changes', { name })}
          </a>
        </p>
      )}
      <Tabs
        tab={tab}
        pinned={pinned}
        several={history.policies.length + history.trials.length > 1}
      />
      {tab === 'rules' && <RuleList policy={policy} mine={me !== undefined} pinned={pinned} />}
      {tab === 'text' && (
        <section aria-labelledby="text">
          <h2 id="text" tabIndex={-1}>
            {t('policy.text')}
          </h2>
          <p class="hint">{t('policy.text.note')}</p>
          <PolicyText name={name} text={policy.spec.cedar} />
        </section>
      )}
      {tab === 'earlier' && <Earlier history={history} me={me} />}
      {!isInForce && (
        <p class="leave">
          <a href="#">{t('policy.back')}</a>
        </p>
      )}
    </View>
  );
}
