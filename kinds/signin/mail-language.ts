import { acceptedLanguages } from '../../i18n/languages.js';
import type { MailOrder } from '../../mail/messages.js';
import type { Call } from '../../registry/kind.js';

/** What the profile of an account says about the language of its owner. */
interface Profile {
  readonly locale?: string | undefined;
  readonly zoneinfo?: string | undefined;
}

type MailLanguage = Pick<MailOrder, 'languages' | 'timeZone'>;

/**
 * Returns the languages and the time zone of a reader: the languages that the app asked for
 * (`locales`), the account's, then those of an Accept-Language header.
 */
export const readerLanguage = (
  { locale, zoneinfo }: Profile,
  locales: readonly string[],
  acceptLanguage: string | undefined,
): MailLanguage => ({
  languages: [
    ...locales,
    ...(locale === undefined ? [] : [locale]),
    ...acceptedLanguages(acceptLanguage),
  ],
  ...(zoneinfo !== undefined && { timeZone: zoneinfo }),
});

/**
 * Returns the same for the person that a request is about. An operator's browser says nothing about
 * that person's languages.
 */
export function mailLanguage(
  { caller, request }: Pick<Call, 'caller' | 'request'>,
  profile: Profile = {},
  locales: readonly string[] = [],
): MailLanguage {
  const isOwn = caller.type === 'Browser' || (caller.type === 'Account' && !caller.operator);
  return readerLanguage(profile, locales, isOwn ? request.acceptLanguage : undefined);
}
