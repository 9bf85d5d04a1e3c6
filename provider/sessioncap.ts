import { Session } from '../kinds/session.js';
import { under } from '../storage/storage.js';
import type { Foundation } from './foundation.js';
import { endSessions } from './signout.js';

/** Sessions an account may have; the least recently used beyond them end (`api.md` 10). */
const sessionsPerAccount = 50;

/** Ends what an account has too much of, a few at a time. */
export async function endBeyondCap(on: Foundation, account: string): Promise<void> {
  const counted = await on.storage.list(under(`objects/${Session.resource}/${account}-`), { limit: sessionsPerAccount + 1 });
  if (counted.entries.length <= sessionsPerAccount) return;
  const live = (await on.store.reader(Session).list(account)).filter((session) => !session.metadata.deletionTimestamp && session.internal.expires > Date.now());
  const oldest = live.sort((a, b) => a.status.lastUsedTimestamp.localeCompare(b.status.lastUsedTimestamp)).slice(0, Math.max(0, live.length - sessionsPerAccount));
  for (const session of oldest) await on.store.commit([await endSessions(on, [session])]);
}
