import type { ComponentChild } from 'preact';
import type { PolicyDecision } from '../api.js';
import { locale } from '../base/text/i18n.js';
import { format, Ltr, t } from '../base/text/message.js';
import { alternativesOf, type ChangeMessage } from './alternatives.js';

/** Returns the changes of one alternative in words: all of them are needed. */
export const changesText = (changes: readonly ChangeMessage[]): ComponentChild =>
  changes.map(({ id, value }, i) => [
    i > 0 && ' + ',
    format(id, { value: <Ltr of={value} />, count: value, when: value }),
  ]);

interface Props {
  decision: PolicyDecision;
  /** Returns what can be done about the i-th alternative. */
  act?: (i: number) => ComponentChild;
}

/** What would have permitted a refused request. */
export function AlternativeList({ decision, act }: Props) {
  const alternatives = alternativesOf(decision, locale());
  if (alternatives.length === 0) return null;
  return (
    <div class="hint">
      {t('alternative.lead')}
      <ul class="alternatives">
        {alternatives.map((changes, i) => (
          <li key={i}>
            {changesText(changes)}
            {act?.(i)}
          </li>
        ))}
      </ul>
    </div>
  );
}
