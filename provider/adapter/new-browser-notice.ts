import type { Interaction } from '../../kinds/interaction/interaction.js';
import { newBrowserMailTo } from '../../kinds/people/account/new-browser-mail.js';
import type { ObjectOf, StagedWrites } from '../../registry/kind.js';
import { outboxRow } from '../../registry/store/outbox-row.js';
import type { ProviderServices } from '../context/context.js';
import { currentUnitOfWork } from '../context/current-request.js';
import { accountObject } from './accounts.js';

/** How long delivery is retried, in milliseconds. */
const retryForMs = 86_400_000;

/**
 * Returns the outbox row of the mail about a sign-in from an unknown browser. It is part of the
 * commit that creates the session, so a crash cannot lose the mail. Returns nothing for a sign-up.
 */
export async function newBrowserNotice(
  services: ProviderServices,
  interaction: ObjectOf<typeof Interaction>,
): Promise<StagedWrites> {
  const nothing = { checks: [], writes: [] };
  const { login } = interaction.internal;
  if (!login || login.isSignUp || login.isKnownBrowser) return nothing;
  const account = await accountObject(services, login.account);
  if (!account) return nothing;
  const headers = currentUnitOfWork()?.origin.request?.headers ?? {};
  const browser = {
    userAgent: headers['user-agent'] ?? '',
    acceptLanguage: headers['accept-language'],
  };
  const { locales = [] } = interaction.spec;
  const now = Date.now();
  const order = newBrowserMailTo(account, browser, locales, services.settings, now);
  return {
    checks: [],
    writes: [
      outboxRow(services.secrets.keys, 'mail', order, {
        id: `browser-${interaction.metadata.name}`,
        notBefore: now,
        until: now + retryForMs,
      }),
    ],
  };
}
