import type { MailOrder } from '../../../mail/messages.js';
import type { ObjectOf, Settings } from '../../../registry/kind.js';
import { profileOf, readerLanguage } from '../../signin/mail-language.js';
import { describeBrowser } from '../../signin/user-agent.js';
import type { Account } from './account.js';

/** The browser of a sign-in, by its request headers. */
interface SignInBrowser {
  readonly userAgent: string;
  readonly acceptLanguage: string | undefined;
}

/**
 * Returns the mail about a sign-in from an unknown browser; `locales` are the languages that the app
 * asked for, `now` is in milliseconds since the epoch.
 */
export function newBrowserMailTo(
  account: ObjectOf<typeof Account>,
  { userAgent, acceptLanguage }: SignInBrowser,
  locales: readonly string[],
  { baseURL }: Pick<Settings, 'baseURL'>,
  now: number,
): MailOrder {
  return {
    to: account.status.email.address,
    ...readerLanguage(profileOf(account), locales, acceptLanguage),
    newBrowser: {
      host: new URL(baseURL).host,
      browser: describeBrowser(userAgent),
      now,
      account: `${baseURL}/account`,
    },
  };
}
