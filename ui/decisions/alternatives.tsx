import type { ComponentChild } from 'preact';
import type { PolicyDecision } from '../api.js';
import { locale } from '../base/i18n.js';
import { Ltr, format, t } from '../base/message.js';
import type { MessageID } from '../messages/catalog.js';
import { joinList } from './words.js';

type Alternative = NonNullable<PolicyDecision['status']['alternatives']>[number];
type Change = Alternative['changes'][number];

/** Returns a moment as the language writes it. */
const momentOf = (timestamp: string): string =>
  new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(timestamp),
  );

function changeWords({ fact, value }: Change): ComponentChild {
  const id: string = `alternative.${fact}`;
  if (fact === 'Time') return t('alternative.Time', { when: momentOf(value!) });
  if (fact === 'Passkeys') return t('alternative.Passkeys', { count: value! });
  if (fact === 'SignIn') return t(`${id}.${value}` as MessageID);
  if (value !== undefined) return format(id as MessageID, { value: <Ltr of={value} /> });
  const hasOther = fact === 'Network' || fact === 'EmailDomain';
  return t((hasOther ? `${id}.other` : id) as MessageID);
}

/** Returns the changes of each alternative to a refusal, in words. */
export const alternativesOf = ({ status }: PolicyDecision): ComponentChild[] =>
  (status.alternatives ?? []).map(({ changes }) =>
    joinList(changes.map(changeWords), 'conjunction'),
  );

/** What would have permitted a refused request. */
export function Alternatives({ decision }: { decision: PolicyDecision }) {
  const all = alternativesOf(decision);
  if (all.length === 0) return null;
  return (
    <div class="hint">
      {t('alternative.lead')}
      <ul class="alternatives">
        {all.map((words, i) => (
          <li key={i}>{words}</li>
        ))}
      </ul>
    </div>
  );
}
