import { z } from 'zod';
import { defineAction } from '../../registry/action.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { Account } from '../people/account/account.js';
import { enqueueDeletion } from '../people/account/deletion-row.js';
import { revokeOtherSessions } from '../people/account/end-sessions.js';
import { requireRecentAuthentication } from '../signin/recent-sign-in.js';

/**
 * POST accounts/<name>/disable: blocks sign-ins to the account, ends its sessions and revokes its
 * tokens. Its objects stay. An operator's own account requires a recent sign-in, as for
 * its deletion.
 */
export const disable = defineAction({
  of: Account,
  subresource: 'disable',
  verb: 'create',
  kind: 'AccountDisabling',
  description: 'Ends every session of the account and blocks sign-ins until it is enabled.',
  spec: z.object({}),
  run: (call, { metadata: { name } }) =>
    call.change(async (tx) => {
      const account = (await tx.get(Account, name))!;
      const isOwn = call.caller.type === 'Account' && call.caller.account === name;
      if (isOwn) requireRecentAuthentication(call, Account, name, account.status.passkeys);
      if (account.status.disabledTimestamp) return account;
      await revokeOtherSessions(tx, call, name, { endsApps: true });
      await enqueueDeletion(tx, call, { account: name, why: 'Disabled' });
      return tx.update(Account, name, ({ status }) => {
        status.disabledTimestamp = toTimestamp(call.now);
      });
    }),
});

/** POST accounts/<name>/enable: permits sign-ins again; earlier sessions stay ended. */
export const enable = defineAction({
  of: Account,
  subresource: 'enable',
  verb: 'create',
  kind: 'AccountEnabling',
  description: 'Permits sign-ins to the account again.',
  spec: z.object({}),
  run: (call, { metadata: { name } }) =>
    call.change((tx) =>
      tx.update(Account, name, ({ status }) => {
        delete status.disabledTimestamp;
      }),
    ),
});
