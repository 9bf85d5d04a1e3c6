import { Session, type Method } from '../kinds/session.js';
import type { Part } from '../registry/kind.js';
import { toTimestamp } from '../registry/timestamp.js';
import { accountPage } from './builtin.js';
import { currentExchange } from './exchange.js';
import type { Foundation, SessionObject } from './foundation.js';
import { sessionName } from './session-name.js';

export type SessionEvent = NonNullable<SessionObject['status']['recentEvents']>[number];

/** How many events a session keeps. */
const most = 10;

/** Tokens for one Client within so many milliseconds are one event. */
const coarse = 300_000;

const added = (events: readonly SessionEvent[] = [], event: SessionEvent): SessionEvent[] => [...events, event].slice(-most);

/** Returns the events of a session with the proof that is new since `old`, if one is. */
export function withSignIn(old: SessionObject | undefined, { method, seconds, browser }: { method: Method; seconds: number; browser: string }): SessionEvent[] | undefined {
  if (old?.internal.loginSeconds === seconds) return old.status.recentEvents;
  return added(old?.status.recentEvents, { type: old ? 'SignedInAgain' : 'SignedIn', timestamp: toTimestamp(seconds * 1000), method, browser });
}

/** Records in the session that a token goes back to which Client it was issued to, in the commit that issues it. */
export function recordTokens(on: Foundation, { account, uid, client }: { account: string; uid: string; client: string }): void {
  if (client === accountPage) return;
  const name = sessionName(account, uid);
  currentExchange()?.defer(`events of ${name}`, async (): Promise<Part> => {
    const known = await on.store.reader(Session).cached(name);
    if (!known || isKnown(known, client)) return { checks: [], writes: [] };
    return on.store.stage(Session, name, (session) => {
      if (!session || isKnown(session, client)) return 'leave';
      session.status.recentEvents = added(session.status.recentEvents, { type: 'TokensIssued', timestamp: toTimestamp(Date.now()), client });
      return session;
    });
  });
}

/** Whether nothing is to be added: the session ends, or its newest event of this Client is not older than a moment. */
function isKnown({ metadata, status }: SessionObject, client: string): boolean {
  const last = status.recentEvents?.findLast((event) => event.client === client);
  return metadata.deletionTimestamp !== undefined || (last !== undefined && Date.now() - Date.parse(last.timestamp) <= coarse);
}
