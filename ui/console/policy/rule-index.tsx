import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Policy } from '../../api.js';
import { Icon } from '../../base/frame/icon.js';
import { t } from '../../base/text/message.js';
import { idToWords } from '../../decisions/id-words.js';
import { ruleMessage } from '../../decisions/rule-words.js';
import { linesOf } from '../../policy/history.js';
import { RuleScope } from '../../policy/rule-row.js';
import { groupsOf, rulesIn, type RuleText } from '../../policy/rules.js';
import { A } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { SearchBox } from '../table/table-tools.js';

/** A rule of the text, what it is called, and whether the policy in force has it otherwise. */
export interface IndexedRule extends RuleText {
  readonly title: string;
  readonly message: string;
  readonly isChanged: boolean;
}

/** Returns the rules of a text; their messages are known if the policy in force has the same. */
export function useRules(text: string, { spec, status }: Policy): readonly IndexedRule[] {
  return useMemo(() => {
    const linesOfRule = (whole: string, { first, last }: RuleText): string =>
      linesOf(whole)
        .slice(first - 1, last)
        .join('\n');
    const former = new Map(
      rulesIn(spec.cedar).map((rule) => [rule.id, linesOfRule(spec.cedar, rule)]),
    );
    const known = new Map(status.rules.map((rule) => [rule.id, rule]));
    return rulesIn(text).map((rule) => {
      const isChanged = former.get(rule.id) !== linesOfRule(text, rule);
      const said = isChanged ? undefined : known.get(rule.id);
      const message = said ? ruleMessage(said) : '';
      return { ...rule, title: idToWords(rule.id), message, isChanged };
    });
  }, [text, spec, status]);
}

interface ItemProps {
  rule: IndexedRule;
  isCurrent: boolean;
  choose: (rule: RuleText) => void;
}

const Item = ({ rule, isCurrent, choose }: ItemProps) => (
  <li>
    <button type="button" aria-current={isCurrent || undefined} onClick={() => choose(rule)}>
      <Icon of={rule.effect === 'permit' ? 'circle-check' : 'circle-x'} />
      <span class="quiet">{t(rule.effect === 'permit' ? 'policy.permits' : 'policy.refuses')}</span>
      <bdi>{rule.title}</bdi>
      {rule.isChanged && <span class="word">{t('policies.rule.changed')}</span>}
    </button>
  </li>
);

interface Props {
  rules: readonly IndexedRule[];
  current: IndexedRule | undefined;
  choose: (rule: RuleText) => void;
}

/** The rules beside their text, under its headings: each leads to its lines. */
export function RuleIndex({ rules, current, choose }: Props) {
  const [search, setSearch] = useState('');
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const item = list.current?.querySelector<HTMLElement>('[aria-current]');
    if (item) list.current!.scrollTop = item.offsetTop - list.current!.clientHeight / 3;
  }, [current?.id]);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rules.filter(({ id, title, message, comment, condition }) => {
    const texts = [id, title, message, comment, condition].join(' ').toLowerCase();
    return words.every((word) => texts.includes(word));
  });
  return (
    <nav class="rule-index" aria-label={t('policy.rules')}>
      <SearchBox label={t('policy.search')} words={search} onSearch={setSearch} />
      <div class="scroll" ref={list}>
        {groupsOf(found, ({ heading }) => heading).map((group) => (
          <details key={`${group.heading} ${group.rules[0]!.id}`} open>
            <summary>
              <bdi>{group.heading || t('policy.rules.ungrouped')}</bdi>
            </summary>
            <ul>
              {group.rules.map((rule) => (
                <Item key={rule.id} rule={rule} isCurrent={rule === current} choose={choose} />
              ))}
            </ul>
          </details>
        ))}
        {found.length === 0 && <p class="hint">{t('console.notfound')}</p>}
      </div>
    </nav>
  );
}

/** One rule in words, and the way to what it decided. */
export const RuleWords = ({ rule }: { rule: IndexedRule }) => (
  <section class="panel rule" aria-labelledby="rule-title">
    <h2 id="rule-title">
      <bdi>{rule.title}</bdi>
    </h2>
    {rule.message && rule.message !== rule.title && (
      <p>
        <bdi>{rule.message}</bdi>
      </p>
    )}
    <RuleScope rule={{ ...rule, condition: '' }} />
    <A
      to={`${pathTo('decisions')}?${new URLSearchParams({ rule: rule.id, result: 'any' })}`}
      look="button small"
    >
      {t('activity.rule.all')}
    </A>
  </section>
);
