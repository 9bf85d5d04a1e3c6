import type { AdapterPayload } from 'oidc-provider';
import { grantName } from '../../kinds/grant.js';
import type { Ending } from '../../kinds/ports.js';
import { Session, type SignOut } from '../../kinds/session/session.js';
import type { DeleteOnlyFallback } from '../../registry/delete-only-fallback.js';
import type { KindObject, StagedWrites } from '../../registry/kind.js';
import { digest } from '../../security/keyring.js';
import { objectKey } from '../../registry/encoded-object.js';
import { toTimestamp } from '../../registry/timestamp.js';
import type { Check, Write } from '../../storage/storage.js';
import type { ProviderServices, SessionObject } from '../context/context.js';
import { cleanupRow, lateBy, noticeRow, noticesOf, tellFor, type Notice } from './outbox-rows.js';
import { withProviderErrors } from '../context/errors.js';
import { copiesPrefix, recordKeyOf, uidKey } from '../context/records.js';

const mostWrites = 80;
/** A commit takes no more. */
const mostBare = 100;

/** Marks a Session as ending; it goes at once where no one is left to be told. */
export async function endingPart(
  services: ProviderServices,
  name: string,
  states: SignOut['clients'],
): Promise<StagedWrites> {
  const stored = await services.store.stored(Session, name);
  if (!stored) return { checks: [], writes: [] };
  const key = objectKey(Session, name);
  if (!states.some(({ state }) => state === 'Retrying'))
    return { checks: [{ key, is: stored.revision }], writes: [{ delete: key }] };
  const now = Date.now();
  return services.store.stage(Session, name, (old) => {
    if (!old) return 'leave';
    old.metadata.deletionTimestamp ??= toTimestamp(now);
    old.status.signOut = { clients: states };
    old.internal.expires = now + tellFor + 2 * lateBy;
    return old;
  });
}

/**
 * What ends these sessions (20 at most) in one commit: library sessions and indexes, Grants of
 * Clients without offline access, notices, and the marks on the Sessions themselves.
 */
export async function endSessions(
  services: ProviderServices,
  sessions: readonly KindObject[],
): Promise<Ending> {
  const checks: Check[] = [];
  const writes: Write[] = [];
  const bare: Write[] = [];
  const left: { grants: string[]; notices: Notice[] } = { grants: [], notices: [] };
  const signOut = new Map<string, SignOut>();
  const ending = (sessions as readonly SessionObject[]).filter(
    (session) => !session.metadata.deletionTimestamp,
  );
  for (const [i, session] of ending.entries()) {
    const { must, may, states } = await endOne(services, session);
    bare.push(
      ...must.deleteOnlyFallback.writes,
      ...may.writes.filter((write) => 'delete' in write),
    );
    signOut.set(session.metadata.name, { clients: states });
    checks.push(...must.checks);
    writes.push(...must.writes);
    left.grants.push(...may.grants);
    if (writes.length + may.writes.length + 3 * (ending.length - i) <= mostWrites)
      writes.push(...may.writes);
    else left.notices.push(...may.notices);
  }
  if (left.grants.length > 0 || left.notices.length > 0) writes.push(cleanupRow(services, left));
  return {
    checks,
    writes,
    signOut,
    ...(bare.length <= mostBare && {
      deleteOnlyFallback: { writes: bare, onCommitted: () => untold(signOut) },
    }),
  };
}

/** Without room for notices no one is told of these ends, now or later. */
function untold(signOut: ReadonlyMap<string, SignOut>): void {
  for (const { clients } of signOut.values())
    for (const client of clients) if (client.state === 'Retrying') client.state = 'GaveUp';
}

/** What ends one session for certain, and what may as well follow from the outbox at once. */
async function endOne(
  services: ProviderServices,
  session: SessionObject,
): Promise<{
  must: StagedWrites & { readonly deleteOnlyFallback: DeleteOnlyFallback };
  may: { writes: Write[]; grants: string[]; notices: Notice[] };
  states: SignOut['clients'];
}> {
  const key = session.internal.recordKey;
  const { entry } = await withProviderErrors(services.storage.get(key));
  const payload = entry && services.records.open(key, 'Session', entry.value);
  const { notices, states } = await noticesOf(services, session.metadata.name, payload ?? {});
  const mark = await endingPart(services, session.metadata.name, states);
  const grants = endingGrants(payload ?? {});
  const records = payload ? [{ delete: key }, { delete: uidKey(payload.uid!) }] : [];
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

/** The library Grants that end with a session: those of Clients without offline access. */
function endingGrants(payload: AdapterPayload): { hashed: string; copy: string }[] {
  return Object.entries(payload.authorizations ?? {}).flatMap(
    ([client, { grantId, persistsLogout }]) => {
      if (!grantId || persistsLogout) return [];
      const hashed = digest(grantId);
      return [{ hashed, copy: copiesPrefix(grantName(payload.accountId!, client)) + hashed }];
    },
  );
}
