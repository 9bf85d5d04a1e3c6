import { useMemo, useState } from 'preact/hooks';
import type { Policy } from '../api.js';
import { Button } from '../base/button.js';
import { Field } from '../base/field.js';
import { t } from '../base/text/message.js';
import { ruleTitle } from '../decisions/rule-words.js';
import { RuleRow } from './rule-row.js';
import { groupsOf, rulesIn, type RuleText } from './rules.js';

/** So many rules are shown without folding their groups. */
const maxUnfolded = 8;

interface Rule {
  readonly number: number;
  readonly rule: Policy['status']['rules'][number];
  readonly text: RuleText | undefined;
}

/** Returns whether a rule has all the words, in what is shown of it. */
function matches({ rule, text }: Rule, words: readonly string[]): boolean {
  const texts = [ruleTitle(rule.id, rule), rule.id, rule.message, text?.comment, text?.condition]
    .join(' ')
    .toLowerCase();
  return words.every((word) => texts.includes(word));
}

const countsText = (rules: readonly { rule: { effect: string } }[]): string => {
  const permit = rules.filter(({ rule: { effect } }) => effect === 'permit').length;
  return t('policy.rules.count', { permit, forbid: rules.length - permit });
};

interface Props {
  policy: Policy;
  mine: boolean;
  pinned: string | undefined;
}

/** The rules in words, in groups by the headings of the text, with a search. */
export function RuleList({ policy, mine, pinned }: Props) {
  const [search, setSearch] = useState('');
  const [unfolded, unfold] = useState(false);
  const listed = useMemo(() => {
    const texts = rulesIn(policy.spec.cedar);
    const { rules } = policy.status;
    return rules.map((rule, i): Rule => {
      const text = texts.length === rules.length ? texts[i] : undefined;
      return { number: i + 1, rule, text };
    });
  }, [policy]);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = listed.filter((rule) => matches(rule, words));
  const isOpen = unfolded || words.length > 0 || listed.length <= maxUnfolded;
  return (
    <section aria-labelledby="rules">
      <h2 id="rules" tabIndex={-1}>
        {t('policy.rules')}
      </h2>
      <p class="hint">
        {countsText(listed)} {t('policy.rules.forbidwins')}
      </p>
      <div class="pair">
        <Field
          id="policy-search"
          label={t('policy.search')}
          autoComplete="off"
          spellcheck={false}
          value={search}
          onText={setSearch}
        />
        {!isOpen && <Button onPress={() => unfold(true)}>{t('policy.unfold')}</Button>}
      </div>
      <p class="hint" aria-live="polite">
        {words.length > 0 && t('policy.search.found', { count: found.length })}
      </p>
      {groupsOf(found, ({ text }) => text?.heading ?? '').map(({ heading, rules }) => (
        <details class="group" key={`${heading} ${rules[0]!.number}`} open={isOpen}>
          <summary>
            <bdi>{heading || t('policy.rules.ungrouped')}</bdi>{' '}
            <span class="hint">{countsText(rules)}</span>
          </summary>
          <ol class="rules" start={rules[0]!.number}>
            {rules.map((rule) => (
              <RuleRow key={rule.rule.id} policy={policy} mine={mine} pinned={pinned} {...rule} />
            ))}
          </ol>
        </details>
      ))}
    </section>
  );
}
