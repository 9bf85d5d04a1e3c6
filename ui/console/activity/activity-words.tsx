import type { PolicyDecision } from '../../api.js';
import { t } from '../../base/text/message.js';
import { DecisionTitle } from '../../decisions/decision-row.js';
import type { Names } from '../../decisions/names.js';
import type { MessageID } from '../../messages/catalog.js';
import type { Row } from '../base/table.js';

const isDecision = (object: object): object is PolicyDecision => 'spec' in object;

/** Returns the decision of a row; the table is read with whole objects. */
export function decisionOf({ object }: Row): PolicyDecision {
  if (!isDecision(object)) throw new Error('the table has no objects');
  return object;
}

/** The words for methods. */
const methodWords: Readonly<Record<string, MessageID>> = {
  EmailCode: 'activity.method.EmailCode',
  EmailLink: 'activity.method.EmailLink',
  Passkey: 'activity.method.Passkey',
};

/** Returns a method in words. */
export function methodText(method: string): string {
  const words = methodWords[method];
  return words ? t(words) : method;
}

const isSignIn = ({ spec }: PolicyDecision): boolean => spec.action === 'signIn';

/** Returns the app that something is about, or undefined. */
export function appOf({ spec }: PolicyDecision): string | undefined {
  const { client, resource, input } = spec;
  return client ?? (resource?.kind === 'Client' ? resource.name : input.facts.client);
}

/** Returns how the person signed in, or tried to, in words; empty for a change. */
export function methodOf(decision: PolicyDecision): string {
  const { method, methods } = decision.spec.input.facts;
  return isSignIn(decision) ? methodText(method ?? methods?.[0] ?? '') : '';
}

/** What happened, for a row of the table. */
export const What = ({ decision, names }: { decision: PolicyDecision; names: Names }) => (
  <span class="happened">
    {isSignIn(decision) ? (
      t('activity.signin')
    ) : (
      <DecisionTitle decision={decision} names={names} />
    )}
  </span>
);

/** Returns how something ended, in words. */
export function outcomeOf({ spec, status }: PolicyDecision): string {
  if (status.outcome) return t(`activity.outcome.${status.outcome}`);
  if (!status.allowed) return t('activity.outcome.Refused');
  return t(spec.action === 'signIn' ? 'activity.outcome.SignedIn' : 'activity.outcome.Done');
}

/** Returns the look of how something ended, whose mark has a shape of its own. */
export const outcomeLook = ({ status: { allowed, outcome } }: PolicyDecision): string =>
  allowed && !outcome ? 'state ok' : 'state bad square';

/** How something ended, by a word and the shape of its mark. */
export function Outcome({ decision }: { decision: PolicyDecision }) {
  const { count } = decision.status;
  return (
    <span class={outcomeLook(decision)}>
      {outcomeOf(decision)}
      {count > 1 && ` ×${count}`}
    </span>
  );
}

/** From where: the network, and the browser or program. */
export function From({ decision: { status } }: { decision: PolicyDecision }) {
  const { network, program } = status.request ?? {};
  return (
    <span class="two-lines">
      {network && <bdi dir="ltr">{network}</bdi>}
      {program && <bdi dir="ltr">{program}</bdi>}
    </span>
  );
}
