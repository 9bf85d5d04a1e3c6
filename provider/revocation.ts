import { errors } from 'oidc-provider';
import type { Part } from '../registry/kind.js';
import { digest } from '../registry/keys.js';
import { under, type Write } from '../storage/storage.js';
import type { SingleUse } from './exchange.js';
import type { Foundation } from './foundation.js';
import { cleanupRow } from './notices.js';
import { reach } from './reach.js';
import { copiesPrefix, membersPrefix, recordKeyOf } from './records.js';

const pageSize = 40;

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
  await deleteMembers(on, membersPrefix(hashedGrant));
}

/** Deletes, in pages, what the index under `prefix` (of one Grant, or of one model under it) points to, and the index. */
export async function deleteMembers(on: Foundation, prefix: string): Promise<void> {
  for (let more = 1; more > 0;) {
    const page = await reach(on.storage.list(under(prefix), { limit: pageSize }));
    const writes = page.entries.flatMap(({ key }) => {
      const [model, hashed] = key.split('/').slice(-2) as [string, string];
      return [{ delete: key }, { delete: recordKeyOf(model, hashed) }];
    });
    if (writes.length > 0) await reach(on.store.commit([{ checks: [], writes }]));
    more = page.more;
  }
}

/** What deletes the library copies of these remembered Grants, which alone ends their tokens; the tokens, and copies beyond a commit, follow from the outbox. */
export async function revokeGrants(on: Foundation, grants: readonly string[]): Promise<Part> {
  const writes: Write[] = [];
  const hashes: string[] = [];
  const copies: string[] = [];
  for (const grant of grants) {
    const prefix = copiesPrefix(grant);
    const { entries, more } = await reach(on.storage.list(under(prefix), { limit: pageSize }));
    const room = writes.length + 2 * entries.length <= 2 * pageSize;
    if (more > 0 || !room) copies.push(grant);
    if (!room) continue;
    const here = entries.map(({ key }) => key.slice(prefix.length));
    hashes.push(...here);
    writes.push(...here.flatMap((hashed) => [{ delete: recordKeyOf('Grant', hashed) }, { delete: prefix + hashed }]));
  }
  if (hashes.length > 0 || copies.length > 0) writes.push(cleanupRow(on, { grants: hashes, copies }));
  return { checks: [], writes };
}
