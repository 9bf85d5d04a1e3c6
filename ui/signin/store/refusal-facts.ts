import type { PolicyDecision } from '../../api.js';
import { idToWords } from '../../decisions/id-words.js';
import type { MessageID } from '../../messages/catalog.js';
import alternatives from '../../messages/en/alternatives.json';
import refusal from '../../messages/en/refusal.json';

export const messages = { ...refusal, ...alternatives };
export { alternativesOf } from '../../decisions/alternatives.js';

/**
 * One row of a decision: its heading, its value (inside the message `id` if there is one) and a
 * link to more about it.
 */
export interface RefusalFact {
  readonly name: MessageID;
  readonly id?: MessageID;
  readonly value: string;
  readonly to?: string;
}

const actionMessages: Readonly<Record<string, MessageID>> = {
  signUp: 'refused.signUp',
  signIn: 'refused.signIn',
  share: 'refused.share',
};
const reasonMessages: Readonly<Record<string, MessageID>> = {
  default: 'refused.default',
  error: 'refused.error',
};

const ruleFact = (rule: string, policy: string): RefusalFact => {
  const name = 'refused.rule';
  if (Object.hasOwn(reasonMessages, rule)) return { name, id: reasonMessages[rule]!, value: '' };
  return {
    name,
    value: idToWords(rule),
    to: `/policy#${new URLSearchParams({ [policy]: '', rule })}`,
  };
};

/**
 * Returns the rows of a decision: the request to the app, the answer and its time (formatted in
 * `language`), the rules and the policy. This chunk imports nothing that the page has too, so that
 * the page remains one script.
 */
export function factsOf(
  { spec: { action, policy }, status: { lastTimestamp, reasons } }: PolicyDecision,
  app: string,
  language: string,
): RefusalFact[] {
  const when = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'short',
  }).format(new Date(lastTimestamp));
  return [
    ...(Object.hasOwn(actionMessages, action)
      ? [{ name: 'refused.asked', id: actionMessages[action]!, value: app } as const]
      : []),
    { name: 'refused.answer', id: 'refused.no', value: when },
    ...reasons.map(({ rule }) => ruleFact(rule, policy)),
    { name: 'refused.by', value: policy },
  ];
}
