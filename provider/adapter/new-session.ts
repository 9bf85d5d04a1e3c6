import { Session } from '../../kinds/session/session.js';
import { prefixRange } from '../../storage/storage.js';
import type { ProviderServices } from '../context/context.js';
import { endSessions } from './end-sessions.js';

/** Ends, after a new session, what an account has too much of. */
export async function followNewSession(services: ProviderServices, account: string): Promise<void> {
  const { sessionsPerAccount } = services.settings.limits;
  const { entries } = await services.storage.list(
    prefixRange(`objects/${Session.resource}/${account}-`),
    {
      limit: sessionsPerAccount + 1,
    },
  );
  if (entries.length > sessionsPerAccount) await endBeyondCap(services, account);
}

/** Ends what an account has too much of, a few at a time. */
async function endBeyondCap(services: ProviderServices, account: string): Promise<void> {
  const live = (await services.store.reader(Session).list(account)).filter(
    (session) => !session.metadata.deletionTimestamp && session.internal.expires > Date.now(),
  );
  const oldest = live
    .sort((a, b) => a.status.lastUsedTimestamp.localeCompare(b.status.lastUsedTimestamp))
    .slice(0, Math.max(0, live.length - services.settings.limits.sessionsPerAccount));
  for (const session of oldest)
    await services.store.commit([await endSessions(services, [session])]);
}
