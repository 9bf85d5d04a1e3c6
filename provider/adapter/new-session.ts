import { Session } from '../../kinds/session/session.js';
import { under } from '../../storage/storage.js';
import type { Foundation } from '../context/context.js';
import { endSessions } from './end-sessions.js';

/** Ends, after a new session, what an account has too much of. */
export async function followNewSession(on: Foundation, account: string): Promise<void> {
  const { sessionsPerAccount } = on.settings.limits;
  const { entries } = await on.storage.list(under(`objects/${Session.resource}/${account}-`), {
    limit: sessionsPerAccount + 1,
  });
  if (entries.length > sessionsPerAccount) await endBeyondCap(on, account);
}

/** Ends what an account has too much of, a few at a time. */
async function endBeyondCap(on: Foundation, account: string): Promise<void> {
  const live = (await on.store.reader(Session).list(account)).filter(
    (session) => !session.metadata.deletionTimestamp && session.internal.expires > Date.now(),
  );
  const oldest = live
    .sort((a, b) => a.status.lastUsedTimestamp.localeCompare(b.status.lastUsedTimestamp))
    .slice(0, Math.max(0, live.length - on.settings.limits.sessionsPerAccount));
  for (const session of oldest) await on.store.commit([await endSessions(on, [session])]);
}
