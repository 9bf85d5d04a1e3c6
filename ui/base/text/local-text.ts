import type { MessageID } from '../../messages/catalog.js';
import { catalogLanguage, locale, messageText } from './i18n.js';

/** A text in several languages, by language tag (BCP 47). */
export type Texts = Readonly<Record<string, string>> | undefined;

/** The languages of texts that are shown on a page in another language. */
const foreign = new Map<string, string>();

/** Returns the language of a text that is not in the language of the page. */
export const foreignLanguage = (text: string): string | undefined => foreign.get(text);

const lookup = (texts: Texts, range: string): string | undefined =>
  texts?.[range] ?? (range && lookup(texts, range.slice(0, Math.max(0, range.lastIndexOf('-')))));

/**
 * Returns the text in the language of the page, else in English, else the one without a language
 * (RFC 4647 §3.4).
 */
export function localText(text: string, texts: Texts): string {
  const own = lookup(texts, locale()) || lookup(texts, catalogLanguage());
  const chosen = own || texts?.en || text;
  if (own || !texts?.en) {
    foreign.delete(chosen);
  } else {
    foreign.set(chosen, 'en');
  }
  return chosen;
}

/** Returns whether a Client is the account page: sentences about it are about this service. */
export const isAccountPage = ({ name }: { name?: string }): boolean => name === 'vestibule-account';

/** Returns the name of an app as this page shows it. */
export const nameOf = (client: {
  name?: string;
  displayName: string;
  displayNames?: Texts;
}): string => localText(client.displayName, client.displayNames);

/** The messages of this service's own scopes: the API has these texts in English. */
function builtInText(id: string, text: string): string {
  const translated = messageText(id as MessageID);
  return translated === id ? text : translated;
}

interface Titled {
  readonly title: string;
  readonly titles?: Texts;
}

interface Scope extends Titled {
  readonly name: string;
  readonly description: string;
  readonly descriptions?: Texts;
}

/** Returns the name of a claims provider; the built-in one has the name of the deployment. */
export const providerName = (
  provider: { name: string; displayName: string; displayNames?: Texts },
  deployment: string | undefined,
): string => (isBuiltIn(provider.name) && deployment) || nameOf(provider);

const isBuiltIn = (provider: string): boolean => provider === 'vestibule';

/** Returns the title of a scope of a claims provider. */
export const scopeTitle = (
  provider: string,
  { name, title, titles }: Omit<Scope, 'description'>,
) => (isBuiltIn(provider) ? builtInText(`scope.${name}.title`, title) : localText(title, titles));

/** Returns what a scope is used for. A scope that is no longer supplied has one text for all. */
export const scopeDescription = (provider: string, { name, description, descriptions }: Scope) =>
  isBuiltIn(provider)
    ? builtInText(`scope.${name}.description`, builtInText('scope.withdrawn', description))
    : localText(description, descriptions);

/** Returns one of the sentences that say what a scope of this service permits. */
export const permissionText = (scope: string, index: number, text: string): string =>
  builtInText(`scope.${scope}.permission.${index + 1}`, text);

/** Returns the title of a claim of a scope. */
export const claimTitle = (
  provider: string,
  { claim, title, titles }: Titled & { claim: string },
) => (isBuiltIn(provider) ? builtInText(`claim.${claim}`, title) : localText(title, titles));
