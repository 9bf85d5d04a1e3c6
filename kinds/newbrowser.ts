import type { MailOrder } from '../mail/messages.js';
import type { Call, ObjectOf } from '../registry/kind.js';
import { Account } from './account/account.js';
import type { Session } from './session.js';
import { describeDevice } from './useragent.js';

type SessionObject = ObjectOf<typeof Session>;

/** A sign-in that comes with the account itself is news to nobody, in milliseconds. */
const justMade = 60_000;

/** How long the mail is tried, in milliseconds. */
const tellFor = 86_400_000;

const isLive = ({ metadata, internal }: SessionObject, now: number): boolean => !metadata.deletionTimestamp && internal.expires > now;
const sameDevice = ({ status: { client: a } }: SessionObject, { status: { client: b } }: SessionObject): boolean => a.browser === b.browser && a.os === b.os && a.device === b.device;

/** Mails the person about a session just begun, unless one of the `others` that is live is from the same browser, system and device (`ui.md` 9); looks at no more of them than it takes. */
export async function tellOfNewBrowser(call: Call, fresh: SessionObject, others: Iterable<SessionObject>): Promise<void> {
  for (const other of others) if (other.metadata.name !== fresh.metadata.name && isLive(other, call.now) && sameDevice(other, fresh)) return;
  const account = await call.store(Account).cached(fresh.status.account);
  if (!account || call.now - Date.parse(account.metadata.creationTimestamp) < justMade) return;
  const { baseURL } = call.settings;
  const order: MailOrder = { to: account.status.email.address, newBrowser: { host: new URL(baseURL).host, browser: describeDevice(fresh.status.client), now: call.now, account: `${baseURL}/account` } };
  await call.change((tx) => tx.later('mail', order, call.now + tellFor));
}
