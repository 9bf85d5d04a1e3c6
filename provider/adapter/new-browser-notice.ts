import type { Interaction } from '../../kinds/interaction/interaction.js';
import { newBrowserMailTo } from '../../kinds/account/new-browser-mail.js';
import type { ObjectOf, Part } from '../../registry/kind.js';
import { outboxRow } from '../../registry/outbox-row.js';
import { accountObject } from './accounts.js';
import { currentExchange } from '../context/unit-of-work.js';
import type { Foundation } from '../context/context.js';

/** How long the mail is tried, in milliseconds. */
const tryFor = 86_400_000;

/**
 * Returns the mail about a sign-in from a browser that has proven no earlier one, as a row for the
 * commit that makes its session: whatever else is signed in, and wherever the process ends, the
 * person is told. Nothing for the sign-in that made the account.
 */
export async function newBrowserNotice(
  on: Foundation,
  interaction: ObjectOf<typeof Interaction>,
): Promise<Part> {
  const nothing = { checks: [], writes: [] };
  const { login } = interaction.internal;
  if (!login || login.isSignUp || login.isKnownBrowser) return nothing;
  const account = await accountObject(on, login.account);
  if (!account) return nothing;
  const userAgent = currentExchange()?.origin.request?.headers['user-agent'] ?? '';
  const now = Date.now();
  const order = newBrowserMailTo(account.status.email.address, userAgent, on.settings, now);
  return {
    checks: [],
    writes: [
      outboxRow(on.keys, 'mail', order, {
        id: `browser-${interaction.metadata.name}`,
        notBefore: now,
        until: now + tryFor,
      }),
    ],
  };
}
