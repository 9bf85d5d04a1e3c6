import { tellOfNewBrowser } from '../kinds/newbrowser.js';
import { Session } from '../kinds/session.js';
import { storedOf } from '../registry/stored.js';
import { under, type Entry } from '../storage/storage.js';
import type { Foundation, SessionObject } from './foundation.js';
import { endSessions } from './signout.js';

/** Sessions an account may have; the least recently used beyond them end (`api.md` 10). */
const sessionsPerAccount = 50;

/** What follows a new session: it is told of by mail where it is from a new browser, and what an account has too much of ends. */
export async function followNewSession(on: Foundation, account: string, name: string): Promise<void> {
  const { entries } = await on.storage.list(under(`objects/${Session.resource}/${account}-`), { limit: sessionsPerAccount + 1 });
  const entry = entries.find(({ key }) => key.endsWith(`/${name}`));
  const fresh = entry && storedOf(Session, entry).object as SessionObject;
  if (fresh) await tellOfNewBrowser(on.store.systemCall(), fresh, read(entries));
  if (entries.length > sessionsPerAccount) await endBeyondCap(on, account);
}

/** Read one by one, as somebody looks at them. */
function* read(entries: readonly Entry[]): Iterable<SessionObject> {
  for (const entry of entries) yield storedOf(Session, entry).object as SessionObject;
}

/** Ends what an account has too much of, a few at a time. */
async function endBeyondCap(on: Foundation, account: string): Promise<void> {
  const live = (await on.store.reader(Session).list(account)).filter((session) => !session.metadata.deletionTimestamp && session.internal.expires > Date.now());
  const oldest = live.sort((a, b) => a.status.lastUsedTimestamp.localeCompare(b.status.lastUsedTimestamp)).slice(0, Math.max(0, live.length - sessionsPerAccount));
  for (const session of oldest) await on.store.commit([await endSessions(on, [session])]);
}
