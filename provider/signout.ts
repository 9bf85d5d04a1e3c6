import type { AdapterPayload } from 'oidc-provider';
import { Session } from '../kinds/session.js';
import { toTimestamp } from '../kinds/text.js';
import type { KindObject, Part } from '../registry/kind.js';
import { digest } from '../registry/keys.js';
import { outboxRow } from '../registry/outboxrow.js';
import { objectKey } from '../registry/stored.js';
import type { Check, Write } from '../storage/storage.js';
import { under } from '../storage/storage.js';
import { accountPage } from './builtin.js';
import { clientObject } from './clients.js';
import type { Foundation, SessionObject } from './foundation.js';
import { copiesPrefix, recordKeyOf, uidKey } from './records.js';
import { reach } from './reach.js';
import { grantName } from '../kinds/grant.js';

/** Somebody to be told that a session ended (OpenID Connect Back-Channel Logout 1.0). */
export interface Notice { readonly client: string; readonly account: string; readonly sid: string; readonly session: string }

/** For how long Clients are told, in milliseconds. */
export const tellFor = 86_400_000;

/** So many pieces of one kind go into the commit itself; what is beyond follows from the outbox at once. */
const inline = 20;

/** The outbox row that tells one Client. */
export function noticeRow(on: Foundation, notice: Notice): Write {
  const now = Date.now();
  return outboxRow(on.keys, 'logout', notice, { id: digest(`${notice.session} ${notice.client} ${notice.sid}`), notBefore: now, until: now + tellFor });
}

/** The outbox row that clears up what was issued under dead library Grants, by their hashed ids, and tells whoever is left. */
export function cleanupRow(on: Foundation, work: { grants?: readonly string[]; copies?: readonly string[]; notices?: readonly Notice[] }): Write {
  const now = Date.now();
  return outboxRow(on.keys, 'grants', work, { id: crypto.randomUUID(), notBefore: now, until: now + tellFor });
}

/** Those of a session's Clients that want to be told, and what becomes of all of them. */
export async function noticesOf(on: Foundation, session: string, payload: AdapterPayload): Promise<{ notices: Notice[]; states: SignOutStates }> {
  const notices: Notice[] = [];
  const states: SignOutStates = [];
  for (const [client, { sid }] of Object.entries(payload.authorizations ?? {})) {
    if (client === accountPage) continue;
    const told = sid !== undefined && (await clientObject(on, client))?.spec.backchannelLogoutURI !== undefined;
    states.push({ name: client, state: told ? 'Retrying' : 'Unsupported' });
    if (told) notices.push({ client, account: payload.accountId!, sid, session });
  }
  return { notices, states };
}

type SignOutStates = NonNullable<SessionObject['status']['signOut']>['clients'];

/** Marks a Session as ending; it goes at once where nobody is left to be told. */
export async function endingPart(on: Foundation, name: string, states: SignOutStates): Promise<Part> {
  const stored = await on.store.stored(Session, name);
  if (!stored) return { checks: [], writes: [] };
  const key = objectKey(Session, name);
  if (!states.some(({ state }) => state === 'Retrying')) return { checks: [{ key, is: stored.revision }], writes: [{ delete: key }] };
  const now = Date.now();
  return on.store.stage(Session, name, (old) => {
    if (!old) return 'leave';
    old.metadata.deletionTimestamp ??= toTimestamp(now);
    old.status.signOut = { clients: states };
    old.internal.expires = now + tellFor + 3_600_000;
    return old;
  });
}

/** What ends these sessions in one commit: library session and indexes, Grants of Clients without offline access, notices, and the mark on the Session itself. */
export async function endSessions(on: Foundation, sessions: readonly KindObject[]): Promise<Part> {
  const checks: Check[] = [];
  const writes: Write[] = [];
  const left: { grants: string[]; copies: string[]; notices: Notice[] } = { grants: [], copies: [], notices: [] };
  for (const session of sessions as SessionObject[]) {
    if (session.metadata.deletionTimestamp) continue;
    const library = await librarySession(on, session);
    checks.push(library.check);
    writes.push(...library.payload ? [{ delete: session.internal.libraryKey }, { delete: uidKey(library.payload.uid!) }] : []);
    const { notices, states } = await noticesOf(on, session.metadata.name, library.payload ?? {});
    const grants = copiesOf(library.payload ?? {});
    const room = writes.length < 60;
    if (room) writes.push(...notices.slice(0, inline).map((notice) => noticeRow(on, notice)), ...grants.slice(0, inline).flatMap(({ hashed, copy }) => [{ delete: recordKeyOf('Grant', hashed) }, { delete: copy }]));
    left.notices.push(...notices.slice(room ? inline : 0));
    left.grants.push(...grants.map(({ hashed }) => hashed));
    const mark = await endingPart(on, session.metadata.name, states);
    checks.push(...mark.checks);
    writes.push(...mark.writes);
  }
  if (left.grants.length > 0 || left.notices.length > 0) writes.push(cleanupRow(on, left));
  return { checks, writes };
}

async function librarySession(on: Foundation, session: SessionObject): Promise<{ check: Check; payload: AdapterPayload | undefined }> {
  const key = session.internal.libraryKey;
  const { entry } = await reach(on.storage.get(key));
  return { check: { key, is: entry ? entry.revision : 'absent' }, payload: entry && on.records.open(key, 'Session', entry.value) };
}

/** The library Grants that end with a session: those of Clients without offline access. */
function copiesOf(payload: AdapterPayload): { hashed: string; copy: string }[] {
  return Object.entries(payload.authorizations ?? {}).flatMap(([client, { grantId, persistsLogout }]) => {
    if (!grantId || persistsLogout) return [];
    const hashed = digest(grantId);
    return [{ hashed, copy: copiesPrefix(grantName(payload.accountId!, client)) + hashed }];
  });
}

/** What deletes the library copies of these Grants, which alone ends their tokens; the tokens themselves follow from the outbox. */
export async function revokeGrants(on: Foundation, grants: readonly string[]): Promise<Part> {
  const writes: Write[] = [];
  const hashes: string[] = [];
  const copies: string[] = [];
  for (const grant of grants) {
    const prefix = copiesPrefix(grant);
    const { entries, more } = await reach(on.storage.list(under(prefix), { limit: inline * 2 }));
    if (more > 0 || writes.length > 40) copies.push(grant);
    if (writes.length > 40) continue;
    const here = entries.map(({ key }) => key.slice(prefix.length));
    hashes.push(...here);
    writes.push(...here.flatMap((hashed) => [{ delete: recordKeyOf('Grant', hashed) }, { delete: prefix + hashed }]));
  }
  if (hashes.length > 0 || copies.length > 0) writes.push(cleanupRow(on, { grants: hashes, copies }));
  return { checks: [], writes };
}
