import { useMemo } from 'preact/hooks';
import type { Policy } from '../api.js';
import { truncate, Ltr, t, format } from '../base/message.js';
import { View } from '../base/view.js';
import { authorOf, Facts, Span } from './facts.js';
import { previousPolicy, type History } from './history.js';
import { PolicyText } from './policy-text.js';
import { comparisonLink, placeLink } from './route.js';
import { RuleRow } from './rule-row.js';
import { rulesIn } from './rules.js';

function Sections({ pinned, several }: { pinned: string | undefined; several: boolean }) {
  return (
    <nav class="sections" aria-label={t('policy.sections')}>
      <ul>
        <li>
          <a href={placeLink(pinned, 'rules')}>{t('policy.rules')}</a>
        </li>
        <li>
          <a href={placeLink(pinned, 'text')}>{t('policy.text')}</a>
        </li>
        <li>
          <a href={placeLink(pinned, 'earlier')}>{t('policy.earlier')}</a>
        </li>
        {several && (
          <li>
            <a href="#compare">{t('policy.compare')}</a>
          </li>
        )}
      </ul>
    </nav>
  );
}

function Rules({
  policy,
  mine,
  pinned,
}: {
  policy: Policy;
  mine: boolean;
  pinned: string | undefined;
}) {
  const {
    spec,
    status: { rules },
  } = policy;
  const texts = useMemo(() => rulesIn(spec.cedar), [spec.cedar]);
  const found = texts.length === rules.length ? texts : [];
  const permit = rules.filter(({ effect }) => effect === 'permit').length;
  return (
    <section aria-labelledby="rules">
      <h2 id="rules" tabIndex={-1}>
        {t('policy.rules')}
      </h2>
      <p class="hint">
        {t('policy.rules.count', { permit, forbid: rules.length - permit })}{' '}
        {t('policy.rules.forbidwins')}
      </p>
      <ol class="rules">
        {rules.map((rule, i) => (
          <RuleRow
            key={rule.id}
            policy={policy}
            rule={rule}
            text={found[i]}
            number={i + 1}
            mine={mine}
            pinned={pinned}
          />
        ))}
      </ol>
    </section>
  );
}

function Earlier({ history, me }: { history: History; me: string | undefined }) {
  const earlier = history.all.filter((one) => one !== history.inForce);
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

interface Props {
  history: History;
  policy: Policy;
  /** The signed-in account. */
  me: string | undefined;
  /** The policy that the address names; links to places in it name it too. */
  pinned: string | undefined;
}

/** A policy in words and as text, and the policies before it. */
export function PolicyView({ history, policy, me, pinned }: Props) {
  const { name } = policy.metadata;
  const isInForce = policy === history.inForce;
  const previous = previousPolicy(history, policy);
  return (
    <View
      title={isInForce ? 'policy.title' : 'policy.earlier.title'}
      values={{ name }}
      phase="policy"
    >
      <p class="lead">{t('policy.lead')}</p>
      <Facts policy={policy} me={me} />
      {previous && (
        <p class="links">
          <a href={comparisonLink(previous.metadata.name, name)}>
            {format('policy.changes', { name })}
          </a>
        </p>
      )}
      <Sections pinned={pinned} several={history.all.length > 1} />
      <Rules policy={policy} mine={me !== undefined} pinned={pinned} />
      <section aria-labelledby="text">
        <h2 id="text" tabIndex={-1}>
          {t('policy.text')}
        </h2>
        <p class="hint">{t('policy.text.note')}</p>
        <PolicyText name={name} text={policy.spec.cedar} />
      </section>
      <Earlier history={history} me={me} />
      {!isInForce && (
        <p class="leave">
          <a href="#">{t('policy.back')}</a>
        </p>
      )}
    </View>
  );
}
