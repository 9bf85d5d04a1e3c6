import { errors } from 'oidc-provider';
import { Grant } from '../../kinds/apps/grant.js';
import type { StagedWrites } from '../../registry/kind.js';
import { digest } from '../../security/keyring.js';
import { prefixRange, type Write } from '../../storage/storage.js';
import type { GrantObject, ProviderServices } from '../context/context.js';
import { withProviderErrors } from '../context/errors.js';
import { copiesPrefix, membersPrefix, recordKeyOf } from '../context/records.js';
import type { SingleUse } from '../context/request-state.js';
import { decisionFromIndex } from './indexes.js';
import { cleanupRow } from './outbox-rows.js';

const pageSize = 40;

/** Handles a second use: revokes the Grant and everything issued under it; always throws. */
export async function revokeReused(services: ProviderServices, use: SingleUse): Promise<never> {
  services.runtime.count('reuse');
  services.runtime.metrics?.singleUseRefused.inc({ kind: use.model });
  if (use.model === 'PushedAuthorizationRequest') {
    throw new errors.InvalidRequestUri('request_uri was already used');
  }
  if (use.grantId) await revokeGrant(services, digest(use.grantId));
  throw new errors.InvalidGrant('used before');
}

/**
 * Deletes a library Grant by its hashed id, which invalidates its tokens, then the tokens, in
 * pages.
 */
export async function revokeGrant(services: ProviderServices, hashedGrant: string): Promise<void> {
  await withProviderErrors(
    services.store.commit([
      { checks: [], writes: [{ delete: recordKeyOf('Grant', hashedGrant) }] },
    ]),
  );
  await deleteMembers(services, membersPrefix(hashedGrant));
}

/**
 * Deletes, in pages, the index under `prefix` (of one Grant, or of one model under it) and the
 * objects it refers to.
 */
export async function deleteMembers(services: ProviderServices, prefix: string): Promise<void> {
  for (let more = 1; more > 0; ) {
    const page = await withProviderErrors(
      services.store.storage.list(prefixRange(prefix), { limit: pageSize }),
    );
    const writes = page.entries.flatMap(({ key }) => {
      const [model, hashed] = key.split('/').slice(-2) as [string, string];
      return [{ delete: key }, { delete: recordKeyOf(model, hashed) }];
    });
    if (writes.length > 0) {
      await withProviderErrors(services.store.commit([{ checks: [], writes }]));
    }
    more = page.more;
  }
}

/**
 * Returns writes that delete the library's copies of Grant objects, which invalidates their tokens.
 * The outbox deletes the tokens, and copies that exceed one commit or were created concurrently.
 */
export async function revokeGrants(
  services: ProviderServices,
  grants: readonly string[],
): Promise<StagedWrites> {
  const writes: Write[] = [];
  const hashes: string[] = [];
  let isComplete = true;
  for (const grant of grants) {
    const prefix = copiesPrefix(grant);
    const { entries, more } = await withProviderErrors(
      services.store.storage.list(prefixRange(prefix), { limit: pageSize }),
    );
    isComplete &&= more === 0 && writes.length + 2 * entries.length <= 2 * pageSize;
    if (writes.length + 2 * entries.length > 2 * pageSize) continue;
    const hashedIds = entries.map(({ key }) => key.slice(prefix.length));
    hashes.push(...hashedIds);
    writes.push(
      ...hashedIds.flatMap((hashed) => [
        { delete: recordKeyOf('Grant', hashed) },
        { delete: prefix + hashed },
      ]),
    );
  }
  const fallback = { writes: [...writes] };
  if (grants.length > 0) writes.push(cleanupRow(services, { grants: hashes, copies: grants }));
  return { checks: [], writes, ...(isComplete && { deleteOnlyFallback: fallback }) };
}

/**
 * Deletes the library's copies of a Grant object that come from an older decision, or all if the
 * Grant was deleted.
 */
export async function revokeOutdated(services: ProviderServices, grant: string): Promise<void> {
  const prefix = copiesPrefix(grant);
  const { entries } = await withProviderErrors(services.store.storage.list(prefixRange(prefix)));
  if (entries.length === 0) return;
  const remembered = (await withProviderErrors(services.store.stored(Grant, grant)))?.object as
    | GrantObject
    | undefined;
  for (const { key, value } of entries) {
    if (decisionFromIndex(value) === remembered?.internal.decision) continue;
    await revokeGrant(services, key.slice(prefix.length));
    await withProviderErrors(services.store.commit([{ checks: [], writes: [{ delete: key }] }]));
  }
}
