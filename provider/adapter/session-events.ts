import { Session, type Method } from '../../kinds/session/session.js';
import type { StagedWrites } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { accountPage } from './built-in-clients.js';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import type { ProviderServices, SessionObject } from '../context/context.js';
import { sessionName } from '../context/session-name.js';

export type SessionEvent = NonNullable<SessionObject['status']['recentEvents']>[number];

/** How many events a session keeps. */
const max = 10;

/** A code and tokens for one Client within so many milliseconds are one event. */
const coarse = 300_000;

const added = (events: readonly SessionEvent[] = [], event: SessionEvent): SessionEvent[] =>
  [...events, event].slice(-max);

/** Where an unit of work keeps the Client that it issues a code to. */
export const codeMemo = 'client of the code';

/** What a commit of a session knows that its events are about. */
interface Seen {
  readonly method: Method;
  readonly seconds: number;
  readonly browser: string;
  readonly client: string | undefined;
}

/**
 * Returns the events of a session with what is new since `old`: a proof, and the Client that gets a
 * code in this unit of work.
 */
export function eventsWith(
  old: SessionObject | undefined,
  { method, seconds, browser, client }: Seen,
): SessionEvent[] | undefined {
  let events = old?.status.recentEvents;
  if (old?.internal.loginSeconds !== seconds) {
    events = added(events, {
      type: old ? 'SignedInAgain' : 'SignedIn',
      timestamp: toTimestamp(seconds * 1000),
      method,
      browser,
    });
  }
  if (client === undefined || client === accountPage || isRecent(events, client)) return events;
  return added(events, { type: 'CodeIssued', timestamp: toTimestamp(Date.now()), client });
}

/**
 * Records in the session that a token goes back to which Client it was issued to, in the commit
 * that issues it.
 */
export function recordTokens(
  services: ProviderServices,
  { account, uid, client }: { account: string; uid: string; client: string },
): void {
  if (client === accountPage) return;
  const name = sessionName(account, uid);
  currentUnitOfWork()?.defer(`events of ${name}`, async (): Promise<StagedWrites> => {
    const known = await services.store.reader(Session).cached(name);
    if (!known || isKnown(known, client)) return { checks: [], writes: [] };
    return services.store.stage(Session, name, (session) => {
      if (!session || isKnown(session, client)) return 'leave';
      session.status.recentEvents = added(session.status.recentEvents, {
        type: 'TokensIssued',
        timestamp: toTimestamp(Date.now()),
        client,
      });
      return session;
    });
  });
}

/**
 * Whether nothing is to be added: the session ends, or its newest event of this Client is recent.
 */
const isKnown = ({ metadata, status }: SessionObject, client: string): boolean =>
  metadata.deletionTimestamp !== undefined || isRecent(status.recentEvents, client);

function isRecent(events: readonly SessionEvent[] | undefined, client: string): boolean {
  const last = events?.findLast((event) => event.client === client);
  return last !== undefined && Date.now() - Date.parse(last.timestamp) <= coarse;
}
