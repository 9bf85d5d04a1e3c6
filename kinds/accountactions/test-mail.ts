import { z } from 'zod';
import type { MailOrder } from '../../mail/messages.js';
import { defineAction } from '../../registry/action.js';
import { minuteMs } from '../../registry/schema/units.js';
import { conflict } from '../../registry/status/status.js';
import { mailLimits } from '../interaction/email-challenge.js';
import { Account } from '../people/account/account.js';
import { requesterOf } from '../signin/code-throttle.js';
import { canonicalAddress } from '../signin/email-address.js';
import { browserTimeZone, profileOf, readerLanguage } from '../signin/mail-language.js';
import { withSpentLimit } from '../signin/with-spent-limit.js';

/** How long a test mail is retried, in milliseconds. */
const retryForMs = 10 * minuteMs;

/**
 * POST accounts/<name>/testmail: sends a mail to the address of the account, by the same way and
 * with the same limits as codes. The Replica that sent it says when the mail server accepted it.
 */
export const sendTestMail = defineAction({
  of: Account,
  subresource: 'testmail',
  verb: 'create',
  kind: 'TestMail',
  description: 'Sends a mail to the address of the account, which shows that mail works.',
  spec: z.object({}),
  async run(call, account) {
    const { name, deletionTimestamp } = account.metadata;
    if (deletionTimestamp) throw conflict(Account, name, 'it is being deleted');
    const { address } = account.status.email;
    const limits = mailLimits(call.settings.limits, requesterOf(call, canonicalAddress(address)));
    const order: MailOrder = {
      to: address,
      test: { host: new URL(call.settings.baseURL).host, now: call.now },
      ...readerLanguage(profileOf(account), [], call.request.acceptLanguage, browserTimeZone(call)),
    };
    await withSpentLimit(call, limits.network, () =>
      call.change(async (tx) => {
        for (const limit of limits.address) await tx.spend(limit, canonicalAddress(address));
        await tx.enqueue('mail', order, call.now + retryForMs);
      }),
    );
    return account;
  },
});
