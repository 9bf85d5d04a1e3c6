import type { PolicyDecision } from '../api.js';
import type { MessageID } from '../messages/catalog.js';

type Change = NonNullable<PolicyDecision['status']['alternatives']>[number]['changes'][number];

/** One change as a message and its value. */
export interface ChangeMessage {
  readonly id: MessageID;
  readonly value: string;
}

function changeMessage({ fact, value }: Change, language: string): ChangeMessage {
  const id = `alternative.${fact}`;
  const message = (suffix: string, shown = value ?? ''): ChangeMessage => ({
    id: (id + suffix) as MessageID,
    value: shown,
  });
  if (fact === 'Time') return message('', momentIn(language, value!));
  if (fact === 'SignIn') return message(`.${value}`);
  const hasOther = fact === 'Network' || fact === 'EmailDomain';
  return message(value === undefined && hasOther ? '.other' : '');
}

/** Returns a moment as the language writes it. */
const momentIn = (language: string, timestamp: string): string =>
  new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(timestamp),
  );

/**
 * Returns the changes of each alternative to a refusal, with times as `language` writes them. This
 * module imports nothing that the sign-in page has too, so that the page remains one script.
 */
export const alternativesOf = (
  { status }: PolicyDecision,
  language: string,
): readonly (readonly ChangeMessage[])[] =>
  (status.alternatives ?? []).map(({ changes }) =>
    changes.map((change) => changeMessage(change, language)),
  );
