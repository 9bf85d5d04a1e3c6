import type { PolicyDecision } from '../api.js';
import type { MessageID } from '../messages/catalog.js';
import { Text, Ltr, truncate, t, format } from '../base/text/message.js';
import { Timestamp } from '../base/text/timestamp.js';
import { AlternativeList } from './alternative-list.js';
import type { Names } from './names.js';
import { ruleMessage, ruleTitle, type RuleMessage } from './rule-words.js';
import { wordFor } from './words.js';

/** What a decision was about, in words. */
export function DecisionTitle({
  decision: { spec },
  names,
}: {
  decision: PolicyDecision;
  names: Names;
}) {
  const { action, resource, scope, client } = spec;
  const about = client ?? resource?.name ?? spec.input.facts.client ?? spec.input.name;
  if (action === 'share') {
    return (
      <>
        {format('decisions.share', {
          scope: names.scope(scope ?? '…'),
          client: names.client(client ?? '…'),
        })}
      </>
    );
  }
  if (action === 'signIn') {
    return <>{format('decisions.signin', { client: names.client(about ?? '…') })}</>;
  }
  if (action === 'signUp') {
    return <>{format('decisions.signup', { client: names.client(about ?? '…') })}</>;
  }
  if (!resource || action.includes('/')) return <>{wordFor('act', action)}</>;
  return (
    <>
      {format('decisions.what', {
        action: wordFor('act', action),
        what: wordFor('kind', resource.kind),
      })}
    </>
  );
}

/** When a decision was made, or the first and the last of several. */
export function DecisionTimes({
  status: { count, firstTimestamp, lastTimestamp },
}: PolicyDecision) {
  const last = <Timestamp of={lastTimestamp} />;
  return (
    <>
      {count === 1
        ? format('decisions.once', { when: last })
        : format('decisions.times', { count, first: <Timestamp of={firstTimestamp} />, last })}
    </>
  );
}

/** The reason if no rule decided. */
const reasonMessages: Readonly<Record<string, MessageID>> = {
  default: 'decisions.default',
  error: 'decisions.error',
};

/** The rule that decided, its message, and links to it in the policy. */
export function Reason({ rule, policy, ...said }: RuleMessage & { rule: string; policy: string }) {
  const title = ruleTitle(rule, said);
  const message = ruleMessage(said);
  const place = (
    <a href={`/policy#${policy}`}>
      <Ltr of={policy} />
    </a>
  );
  if (Object.hasOwn(reasonMessages, rule)) {
    return <p class="hint">{format(reasonMessages[rule]!, { policy: place })}</p>;
  }
  const link = (
    <a href={`/policy#${new URLSearchParams({ [policy]: '', rule })}`}>
      <bdi>{title}</bdi>
    </a>
  );
  return (
    <>
      {message && truncate(message) !== title && (
        <blockquote class="said">
          <Text of={message} max={500} />
        </blockquote>
      )}
      <p class="hint">{format('decisions.rule', { rule: link, policy: place })}</p>
    </>
  );
}

/**
 * One decision: the request, its result, its time, and the rule and policy that decided.
 */
export function DecisionRow({ decision, names }: { decision: PolicyDecision; names: Names }) {
  const {
    spec: { policy },
    status: { allowed, reasons, outcome },
  } = decision;
  return (
    <li class="decision">
      <p class="asked">
        <span class="strong">
          <DecisionTitle decision={decision} names={names} />
        </span>{' '}
        <span class={`word ${allowed && !outcome ? 'allowed' : 'refused'}`}>
          {outcome && t('decisions.failed')}
          {!outcome && t(allowed ? 'decisions.allowed' : 'decisions.refused')}
        </span>
      </p>
      <p class="hint">
        <DecisionTimes {...decision} />
      </p>
      {reasons.map((reason) => (
        <Reason key={reason.rule} {...reason} policy={policy} />
      ))}
      <AlternativeList decision={decision} />
      {reasons.length === 0 && (
        <p class="hint">
          {format('decisions.policy', {
            policy: (
              <a href={`/policy#${policy}`}>
                <Ltr of={policy} />
              </a>
            ),
          })}
        </p>
      )}
    </li>
  );
}
