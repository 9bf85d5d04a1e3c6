import { type Method, Session } from '../../kinds/people/session/session.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { upsert } from '../../registry/store/upsert.js';
import type { ProviderServices, SessionObject } from '../context/context.js';
import { currentUnitOfWork } from '../context/current-request.js';
import { StateKey } from '../context/request-state.js';
import { sessionName } from '../context/session-name.js';
import { accountPageClient } from './built-in-clients.js';

/** An event of a session, as the API shows it. */
export type SessionEvent = NonNullable<SessionObject['status']['recentEvents']>[number];

/** The maximum number of events of a session. */
const maxEvents = 10;

/** A code and tokens for one Client within this many milliseconds are one event. */
const resolutionMs = 300_000;

const withEvent = (events: readonly SessionEvent[] = [], event: SessionEvent): SessionEvent[] =>
  [...events, event].slice(-maxEvents);

/** The name of the Client that the request issues a code to. */
export const codeClient = new StateKey<string | undefined>();

/** The facts of a commit that session events record. */
interface SessionFacts {
  readonly method: Method;
  readonly seconds: number;
  readonly browser: string;
  readonly client: string | undefined;
}

/**
 * Returns the events of a session with those of this unit of work: a sign-in, and a code issued to
 * a Client.
 */
export function eventsWith(
  old: SessionObject | undefined,
  { method, seconds, browser, client }: SessionFacts,
): SessionEvent[] | undefined {
  let events = old?.status.recentEvents;
  if (old?.internal.loginSeconds !== seconds) {
    events = withEvent(events, {
      type: old ? 'SignedInAgain' : 'SignedIn',
      timestamp: toTimestamp(seconds * 1000),
      method,
      browser,
    });
  }
  if (client === undefined || client === accountPageClient || isRecent(events, client)) {
    return events;
  }
  return withEvent(events, { type: 'CodeIssued', timestamp: toTimestamp(Date.now()), client });
}

/**
 * Records that tokens were issued to a Client, in the session they belong to and in the commit that
 * issues them.
 */
export function recordTokens(
  services: ProviderServices,
  { account, uid, client }: { account: string; uid: string; client: string },
): void {
  if (client === accountPageClient) return;
  const name = sessionName(account, uid);
  currentUnitOfWork()?.defer(`events of ${name}`, async (tx) => {
    const cachedSession = await services.store.reader(Session).cached(name);
    if (!cachedSession || isRecorded(cachedSession, client)) return;
    await upsert(tx, Session, name, (session) => {
      if (!session || isRecorded(session, client)) return 'leave';
      session.status.recentEvents = withEvent(session.status.recentEvents, {
        type: 'TokensIssued',
        timestamp: toTimestamp(Date.now()),
        client,
      });
      return session;
    });
  });
}

/**
 * Returns true if no event needs to be added: the session is ending, or its last event of this
 * Client is recent.
 */
const isRecorded = ({ metadata, status }: SessionObject, client: string): boolean =>
  metadata.deletionTimestamp !== undefined || isRecent(status.recentEvents, client);

function isRecent(events: readonly SessionEvent[] | undefined, client: string): boolean {
  const last = events?.findLast((event) => event.client === client);
  return last !== undefined && Date.now() - Date.parse(last.timestamp) <= resolutionMs;
}
