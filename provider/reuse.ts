import { errors } from 'oidc-provider';
import { digest } from '../registry/keys.js';
import { under } from '../storage/storage.js';
import type { SingleUse } from './exchange.js';
import type { Foundation } from './foundation.js';
import { reach } from './reach.js';
import { membersPrefix, recordKey, recordKeyOf } from './records.js';

const pageSize = 45;

/** Answers the second use of something: its Grant and all that was issued under it go, the first user's tokens included; always throws. */
export async function revokeReused(on: Foundation, use: SingleUse): Promise<never> {
  on.count('reuse');
  if (use.model === 'PushedAuthorizationRequest') throw new errors.InvalidRequestUri('request_uri was already used');
  if (use.grantId) await revokeGrant(on, digest(use.grantId));
  throw new errors.InvalidGrant('used before');
}

/** Deletes a library Grant by its hashed id, which ends its tokens, then the tokens themselves, in pages. */
export async function revokeGrant(on: Foundation, hashedGrant: string): Promise<void> {
  await reach(on.store.commit([{ checks: [], writes: [{ delete: recordKeyOf('Grant', hashedGrant) }] }]));
  const prefix = membersPrefix(hashedGrant);
  for (let more = 1; more > 0;) {
    const page = await reach(on.storage.list(under(prefix), { limit: pageSize }));
    const writes = page.entries.flatMap(({ key }) => {
      const [model, hashed] = key.slice(prefix.length).split('/') as [string, string];
      return [{ delete: key }, { delete: recordKeyOf(model, hashed) }];
    });
    if (writes.length > 0) await reach(on.store.commit([{ checks: [], writes }]));
    more = page.more;
  }
}

/** The storage key of a library Grant, for checks of whoever issues under it. */
export const grantRecord = (grantId: string): string => recordKey('Grant', grantId);
