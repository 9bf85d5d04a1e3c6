import { catalogs, type MessageID } from '../../i18n/languages.js';
import type { Texts } from '../../i18n/local-text.js';

/** The messages of the service itself and of the refusals of the default policy. */
const ids = [
  'policy.default',
  'policy.error',
  'policy.refused',
  'policy.none',
  'policy.sign-in-again',
  'policy.someone-else',
] as const satisfies readonly MessageID[];

const english = catalogs['en']!;

const textsByMessage: ReadonlyMap<string, Texts> = new Map(
  ids.map((id) => [
    english[id],
    Object.fromEntries(
      Object.entries(catalogs)
        .filter(([tag]) => tag !== 'en')
        .map(([tag, catalog]) => [tag, catalog[id]]),
    ),
  ]),
);

/** A message of a decision, and the same in other languages. */
export interface DecisionMessage {
  readonly message: string;
  readonly messages?: Texts;
}

/** Returns a message with those that its rule has in other languages, or this service's own. */
export function withTexts(message: string, own?: Texts): DecisionMessage {
  const messages = own ?? textsByMessage.get(message);
  return { message, ...(messages && { messages }) };
}

/** Returns a message of this service in all languages. */
export const builtInMessage = (id: (typeof ids)[number]): DecisionMessage => withTexts(english[id]);
