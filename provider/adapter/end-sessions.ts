import { grantName } from '../../kinds/apps/grant.js';
import { Session, type SignOut } from '../../kinds/people/session/session.js';
import type { StagedSessionEnd } from '../../kinds/ports.js';
import type { DeleteOnlyFallback } from '../../registry/delete-only-fallback.js';
import { objectKey } from '../../registry/encoded-object.js';
import type { KindObject, StagedWrites } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { digest } from '../../security/keyring.js';
import type { Check, Write } from '../../storage/storage.js';
import type { ProviderServices, SessionObject } from '../context/context.js';
import { withProviderErrors } from '../context/errors.js';
import { copiesPrefix, recordKeyOf, uidKey } from '../context/records.js';
import {
  type Authorizations,
  cleanupRow,
  type Notice,
  noticeGraceMs,
  noticeLifetimeMs,
  noticeRow,
  noticesOf,
} from './outbox-rows.js';

const maxWrites = 80;
/** The maximum number of delete-only writes in a commit. */
const maxFallbackWrites = 100;

/** Returns writes that mark a Session as ending, or delete it if no Client is left to notify. */
export async function stageEnding(
  services: ProviderServices,
  name: string,
  states: SignOut['clients'],
): Promise<StagedWrites> {
  const stored = await services.store.stored(Session, name);
  if (!stored) return { checks: [], writes: [] };
  const key = objectKey(Session, name);
  if (!states.some(({ state }) => state === 'Retrying')) {
    return { checks: [{ key, is: stored.revision }], writes: [{ delete: key }] };
  }
  const now = Date.now();
  return services.store.stage(Session, name, (old) => {
    if (!old) return 'leave';
    old.metadata.deletionTimestamp ??= toTimestamp(now);
    old.status.signOut = { clients: states };
    old.internal.expires = now + noticeLifetimeMs + 2 * noticeGraceMs;
    return old;
  });
}

/**
 * Returns the writes that end up to 20 sessions in one commit: library sessions and indexes, Grants
 * of Clients without offline access, logout notices, and the marks on the Session objects.
 */
export async function endSessions(
  services: ProviderServices,
  sessions: readonly KindObject[],
): Promise<StagedSessionEnd> {
  const checks: Check[] = [];
  const writes: Write[] = [];
  const fallbackWrites: Write[] = [];
  const deferred: { grants: string[]; notices: Notice[] } = { grants: [], notices: [] };
  const signOut = new Map<string, SignOut>();
  const ending = (sessions as readonly SessionObject[]).filter(
    (session) => !session.metadata.deletionTimestamp,
  );
  for (const [i, session] of ending.entries()) {
    const { must: required, may: deferrable, states } = await stageEndOfSession(services, session);
    fallbackWrites.push(
      ...required.deleteOnlyFallback.writes,
      ...deferrable.writes.filter((write) => 'delete' in write),
    );
    signOut.set(session.metadata.name, { clients: states });
    checks.push(...required.checks);
    writes.push(...required.writes);
    deferred.grants.push(...deferrable.grants);
    if (writes.length + deferrable.writes.length + 3 * (ending.length - i) <= maxWrites) {
      writes.push(...deferrable.writes);
    } else {
      deferred.notices.push(...deferrable.notices);
    }
  }
  if (deferred.grants.length > 0 || deferred.notices.length > 0) {
    writes.push(cleanupRow(services, deferred));
  }
  return {
    checks,
    writes,
    signOut,
    ...(fallbackWrites.length <= maxFallbackWrites && {
      deleteOnlyFallback: { writes: fallbackWrites, onCommitted: () => giveUpNotices(signOut) },
    }),
  };
}

/** Marks pending notifications as GaveUp: a store that is out of space has no room for notices. */
function giveUpNotices(signOut: ReadonlyMap<string, SignOut>): void {
  for (const { clients } of signOut.values()) {
    for (const client of clients) if (client.state === 'Retrying') client.state = 'GaveUp';
  }
}

/** Returns the writes that must be in the commit, and those that the outbox may do afterwards. */
async function stageEndOfSession(
  services: ProviderServices,
  session: SessionObject,
): Promise<{
  must: StagedWrites & { readonly deleteOnlyFallback: DeleteOnlyFallback };
  may: { writes: Write[]; grants: string[]; notices: Notice[] };
  states: SignOut['clients'];
}> {
  const key = session.internal.recordKey;
  const { entry } = await withProviderErrors(services.store.storage.get(key));
  const payload = entry && services.secrets.records.open(key, 'Session', entry.value);
  const { authorizations = {} } = payload ?? {};
  const owner = { session: session.metadata.name, account: session.status.account };
  const { notices, states } = await noticesOf(services, owner, authorizations);
  const mark = await stageEnding(services, session.metadata.name, states);
  const grants = endingGrants(owner.account, authorizations);
  const records = payload?.uid ? [{ delete: key }, { delete: uidKey(payload.uid) }] : [];
  return {
    must: {
      checks: [{ key, is: entry ? entry.revision : 'absent' }, ...mark.checks],
      writes: [...records, ...mark.writes],
      deleteOnlyFallback: {
        writes: [...records, { delete: objectKey(Session, session.metadata.name) }],
      },
    },
    may: {
      writes: [
        ...notices.map((notice) => noticeRow(services, notice)),
        ...grants.flatMap(({ hashed, copy }) => [
          { delete: recordKeyOf('Grant', hashed) },
          { delete: copy },
        ]),
      ],
      grants: grants.map(({ hashed }) => hashed),
      notices,
    },
    states,
  };
}

/** Returns the library Grants that end with a session: those of Clients without offline access. */
function endingGrants(
  account: string,
  authorizations: Authorizations,
): { hashed: string; copy: string }[] {
  return Object.entries(authorizations).flatMap(([client, { grantId, persistsLogout }]) => {
    if (!grantId || persistsLogout) return [];
    const hashed = digest(grantId);
    return [{ hashed, copy: copiesPrefix(grantName(account, client)) + hashed }];
  });
}
