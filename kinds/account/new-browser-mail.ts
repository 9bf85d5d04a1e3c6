import type { MailOrder } from '../../mail/messages.js';
import type { Settings } from '../../registry/kind.js';
import { describeBrowser } from '../signin/user-agent.js';

/**
 * Returns the mail about a sign-in from an unknown browser; `now` in milliseconds since the epoch.
 */
export function newBrowserMailTo(
  address: string,
  userAgent: string,
  { baseURL }: Pick<Settings, 'baseURL'>,
  now: number,
): MailOrder {
  return {
    to: address,
    newBrowser: {
      host: new URL(baseURL).host,
      browser: describeBrowser(userAgent),
      now,
      account: `${baseURL}/account`,
    },
  };
}
