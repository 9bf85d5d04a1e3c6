import type { MailOrder } from '../mail/messages.js';
import { Session } from '../kinds/session.js';
import { describeDevice } from '../kinds/useragent.js';
import { storedOf } from '../registry/stored.js';
import { under, type Entry } from '../storage/storage.js';
import { accountObject } from './accounts.js';
import type { Foundation, SessionObject } from './foundation.js';
import { endSessions } from './signout.js';

/** Sessions an account may have; the least recently used beyond them end (`api.md` 10). */
const sessionsPerAccount = 50;

/** A sign-in that comes with the account itself is news to nobody, in milliseconds. */
const justMade = 60_000;

/** How long the mail about a new browser is tried, in milliseconds. */
const tellFor = 86_400_000;

const isLive = (session: SessionObject): boolean => !session.metadata.deletionTimestamp && session.internal.expires > Date.now();

/** What follows a new session: it is told of by mail where no live one is from the same browser, system and device, and what an account has too much of ends. */
export async function followNewSession(on: Foundation, account: string, name: string): Promise<void> {
  const { entries } = await on.storage.list(under(`objects/${Session.resource}/${account}-`), { limit: sessionsPerAccount + 1 });
  await tellOfNewBrowser(on, account, name, entries);
  if (entries.length > sessionsPerAccount) await endBeyondCap(on, account);
}

/** Ends what an account has too much of, a few at a time. */
async function endBeyondCap(on: Foundation, account: string): Promise<void> {
  const live = (await on.store.reader(Session).list(account)).filter(isLive);
  const oldest = live.sort((a, b) => a.status.lastUsedTimestamp.localeCompare(b.status.lastUsedTimestamp)).slice(0, Math.max(0, live.length - sessionsPerAccount));
  for (const session of oldest) await on.store.commit([await endSessions(on, [session])]);
}

const sameDevice = ({ status: { client: a } }: SessionObject, { status: { client: b } }: SessionObject): boolean => a.browser === b.browser && a.os === b.os && a.device === b.device;

/** Looks at no more sessions than it takes to find one from the same device. */
async function tellOfNewBrowser(on: Foundation, account: string, name: string, entries: readonly Entry[]): Promise<void> {
  const fresh = await on.store.reader(Session).get(name);
  const isKnown = (entry: Entry): boolean => { const other = storedOf(Session, entry).object as SessionObject; return other.metadata.name !== name && isLive(other) && sameDevice(other, fresh!) };
  if (!fresh || !isLive(fresh) || entries.some(isKnown)) return;
  const owner = await accountObject(on, account);
  if (!owner || Date.now() - Date.parse(owner.metadata.creationTimestamp) < justMade) return;
  const call = on.store.systemCall();
  const order: MailOrder = { to: owner.status.email.address, newBrowser: { host: new URL(on.settings.baseURL).host, browser: describeDevice(fresh.status.client), now: call.now, account: `${on.settings.baseURL}/account` } };
  await call.change((tx) => tx.later('mail', order, call.now + tellFor));
}
