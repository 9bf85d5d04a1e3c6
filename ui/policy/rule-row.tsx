import type { ComponentChild } from 'preact';
import type { Policy } from '../api.js';
import type { MessageID } from '../messages/catalog.js';
import { truncate, Ltr, Text, t, format } from '../base/text/message.js';
import { ruleMessage, ruleTitle } from '../decisions/rule-words.js';
import { joinList, wordFor } from '../decisions/words.js';
import { PolicyText } from './policy-text.js';
import { decisionsLink, placeLink } from './route.js';
import type { ScopeConstraint, RuleText } from './rules.js';

/** Returns a scope constraint in words; entity names stay as the rule writes them. */
function constraintText(
  extent: ScopeConstraint,
  set: 'act' | 'kind' | 'who',
  any: MessageID,
): ComponentChild {
  if (extent.is === 'any') return t(any);
  if (extent.is === 'type') return wordFor(set, extent.type);
  if (extent.is === 'names') {
    return joinList(
      extent.of.map(({ type, id }) =>
        set === 'act' ? wordFor('act', id) : <Ltr of={`${type} ${id}`} />,
      ),
    );
  }
  return t('policy.other');
}

/** The scope of a rule in words, and its conditions as Cedar text. */
export function RuleScope({ rule: { who, does, what, condition } }: { rule: RuleText }) {
  const parts: [MessageID, ComponentChild][] = [
    ['policy.who', constraintText(who, 'who', 'policy.anyone')],
    ['policy.does', constraintText(does, 'act', 'policy.anything')],
    ['policy.on', constraintText(what, 'kind', 'policy.everything')],
  ];
  return (
    <dl class="values head">
      {parts.map(([id, words]) => (
        <div key={id}>
          <dt>{t(id)}</dt>
          <dd>{words}</dd>
        </div>
      ))}
      {condition && (
        <div class="condition">
          <dt>{t('policy.condition')}</dt>
          <dd>
            <code dir="ltr" lang="en" translate={false}>
              <bdi dir="ltr">{truncate(condition, 2000)}</bdi>
            </code>
          </dd>
        </div>
      )}
    </dl>
  );
}

const linesText = ({ first, last }: RuleText): string =>
  first === last ? t('policy.lines', { first }) : t('policy.lines.many', { first, last });

interface Props {
  policy: Policy;
  rule: Policy['status']['rules'][number];
  /** Its lines in the text, if they were found. */
  text: RuleText | undefined;
  number: number;
  mine: boolean;
  /** The policy that the address names. */
  pinned: string | undefined;
}

/** One rule in words: its effect, its message or the comment above it, its scope and its text. */
export function RuleRow({
  policy,
  rule: { id, effect, ...said },
  text,
  number,
  mine,
  pinned,
}: Props) {
  const { name } = policy.metadata;
  const title = ruleTitle(id, said);
  const message = ruleMessage(said);
  return (
    <li class="rule" id={`rule-${number}`} data-rule={id} tabIndex={-1}>
      <h3>
        <bdi>{title}</bdi>{' '}
        <span class={`word ${effect === 'permit' ? 'allowed' : 'refused'}`}>
          {t(effect === 'permit' ? 'policy.permits' : 'policy.refuses')}
        </span>
      </h3>
      {message && (
        <blockquote class="said">
          {truncate(message) === title ? <Ltr of={id} /> : <Text of={message} max={1024} />}
        </blockquote>
      )}
      {text?.comment && (
        <p class="hint">
          <bdi>{truncate(text.comment, 1024)}</bdi>
        </p>
      )}
      {text && <RuleScope rule={text} />}
      <div class="more">
        {text && (
          <details>
            <summary>
              {t('policy.show')}
              <span class="quiet"> {title}</span>
            </summary>
            <PolicyText name={name} text={policy.spec.cedar} from={text.first} to={text.last} />
          </details>
        )}
        {text && (
          <a href={placeLink(pinned, `line-${text.first}`)}>
            {format('policy.place', { lines: linesText(text) })}
          </a>
        )}
        {mine && (
          <a href={decisionsLink(id)}>
            {t('policy.mine')}
            <span class="quiet"> {title}</span>
          </a>
        )}
      </div>
    </li>
  );
}
