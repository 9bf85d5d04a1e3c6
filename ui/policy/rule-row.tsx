import type { ComponentChild } from 'preact';
import type { Policy } from '../api.js';
import type { MessageID } from '../messages/catalog.js';
import { cap, Latin, t, format } from '../base/message.js';
import { idAsWords, row, wordFor } from '../decisions/words.js';
import { PolicyText } from './policy-text.js';
import { toDecisions, toPlace } from './route.js';
import type { Extent, RuleText } from './rules.js';

/** A part of a rule's head in words; what is named stands as the rule names it. */
function extentWords(extent: Extent, set: 'act' | 'kind' | 'who', any: MessageID): ComponentChild {
  if (extent.is === 'any') return t(any);
  if (extent.is === 'type') return wordFor(set, extent.type);
  if (extent.is === 'names')
    return row(
      extent.of.map(({ type, id }) =>
        set === 'act' ? wordFor('act', id) : <Latin of={`${type} ${id}`} />,
      ),
    );
  return t('policy.other');
}

/**
 * Whom a rule is about, what they do and with what, in words, and what must be the case besides, as
 * it stands.
 */
function Head({ rule: { who, does, what, condition } }: { rule: RuleText }) {
  const parts: [MessageID, ComponentChild][] = [
    ['policy.who', extentWords(who, 'who', 'policy.anyone')],
    ['policy.does', extentWords(does, 'act', 'policy.anything')],
    ['policy.on', extentWords(what, 'kind', 'policy.everything')],
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
              <bdi dir="ltr">{cap(condition, 2000)}</bdi>
            </code>
          </dd>
        </div>
      )}
    </dl>
  );
}

const linesSaid = ({ first, last }: RuleText): string =>
  first === last ? t('policy.lines', { first }) : t('policy.lines.many', { first, last });

interface Props {
  policy: Policy;
  rule: Policy['status']['rules'][number] /** Its place in the text, where that was found. */;
  text: RuleText | undefined;
  number: number;
  mine: boolean /** The policy that the address names. */;
  pinned: string | undefined;
}

/**
 * One rule in words: what it does, its own message or the comment above it, its head, and its very
 * lines.
 */
export function RuleRow({
  policy,
  rule: { id, effect, message },
  text,
  number,
  mine,
  pinned,
}: Props) {
  const { name } = policy.metadata;
  return (
    <li class="rule" id={`rule-${number}`} data-rule={id} tabIndex={-1}>
      <h3>
        <bdi>{idAsWords(id)}</bdi>{' '}
        <span class={`word ${effect === 'permit' ? 'allowed' : 'refused'}`}>
          {t(effect === 'permit' ? 'policy.permits' : 'policy.refuses')}
        </span>
      </h3>
      {message && (
        <blockquote class="said">
          <bdi>{cap(message, 1024)}</bdi>
        </blockquote>
      )}
      {text?.comment && (
        <p class="hint">
          <bdi>{cap(text.comment, 1024)}</bdi>
        </p>
      )}
      {text && <Head rule={text} />}
      <div class="more">
        {text && (
          <details>
            <summary>
              {t('policy.show')}
              <span class="quiet"> {idAsWords(id)}</span>
            </summary>
            <PolicyText name={name} text={policy.spec.cedar} from={text.first} to={text.last} />
          </details>
        )}
        {text && (
          <a href={toPlace(pinned, `line-${text.first}`)}>
            {format('policy.place', { lines: linesSaid(text) })}
          </a>
        )}
        {mine && (
          <a href={toDecisions(id)}>
            {t('policy.mine')}
            <span class="quiet"> {idAsWords(id)}</span>
          </a>
        )}
      </div>
    </li>
  );
}
