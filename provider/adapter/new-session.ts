import { Session } from '../../kinds/people/session/session.js';
import { objectsRange } from '../../registry/encoded-object.js';
import type { ProviderServices } from '../context/context.js';
import { endSessions } from './end-sessions.js';

/** Ends the sessions of an account beyond `sessionsPerAccount`, after a new one. */
export async function enforceSessionLimit(
  services: ProviderServices,
  account: string,
): Promise<void> {
  const { sessionsPerAccount } = services.settings.limits;
  const count = await services.store.storage.count(objectsRange(Session, account));
  if (count > sessionsPerAccount) await endExcessSessions(services, account);
}

/** Ends the least recently used sessions beyond the limit, one commit each. */
async function endExcessSessions(services: ProviderServices, account: string): Promise<void> {
  const live = (await services.store.reader(Session).list(account)).filter(
    (session) => !session.metadata.deletionTimestamp && session.internal.expires > Date.now(),
  );
  const oldest = live
    .sort((a, b) => a.status.lastUsedTimestamp.localeCompare(b.status.lastUsedTimestamp))
    .slice(0, Math.max(0, live.length - services.settings.limits.sessionsPerAccount));
  for (const session of oldest) {
    await services.store.commit([await endSessions(services, [session])]);
  }
}
