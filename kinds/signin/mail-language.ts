import { acceptedLanguages } from '../../i18n/languages.js';
import { knownTimeZone } from '../../i18n/time-zone.js';
import type { MailOrder } from '../../mail/messages.js';
import type { Call } from '../../registry/kind.js';

/** What the profile of an account says about the language of its owner. */
export interface Profile {
  readonly locale?: string | undefined;
  readonly timeZone?: string | undefined;
  /** The zone of the browser of the last sign-in, for those who named none. */
  readonly browserTimeZone?: string | undefined;
}

/** Returns what an account says about the language and the time zone of its owner. */
export const profileOf = ({
  spec,
  internal,
}: {
  readonly spec: Profile;
  readonly internal: { readonly timeZone?: string | undefined };
}): Profile => ({ ...spec, browserTimeZone: internal.timeZone });

/** Returns the time zone of the browser that sent a request, if it is a known one. */
export const browserTimeZone = ({ request }: Pick<Call, 'request'>): string | undefined =>
  knownTimeZone(request.timeZone);

type MailLanguage = Pick<MailOrder, 'languages' | 'timeZone'>;

/**
 * Returns the languages and the time zone of a reader: the languages that the app asked for
 * (`locales`), the account's, then those of an Accept-Language header. The zone is the account's
 * own, that of the browser, or that of an earlier one.
 */
export const readerLanguage = (
  { locale, timeZone, browserTimeZone: earlierZone }: Profile,
  locales: readonly string[],
  acceptLanguage: string | undefined,
  browserZone?: string,
): MailLanguage => ({
  languages: [
    ...locales,
    ...(locale === undefined ? [] : [locale]),
    ...acceptedLanguages(acceptLanguage),
  ],
  ...zoneOf(timeZone ?? browserZone ?? earlierZone),
});

const zoneOf = (timeZone: string | undefined): MailLanguage =>
  timeZone === undefined ? {} : { timeZone };

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
  return isOwn
    ? readerLanguage(profile, locales, request.acceptLanguage, browserTimeZone({ request }))
    : readerLanguage(profile, locales, undefined);
}
