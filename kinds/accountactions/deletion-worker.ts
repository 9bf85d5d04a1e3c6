import type { MailOrder } from '../../mail/messages.js';
import type { AnyKind, Call } from '../../registry/kind.js';
import { dropRows, type Worker } from '../../registry/outbox.js';
import type { Store } from '../../registry/store.js';
import { listPages } from '../../registry/pager.js';
import { canonical } from '../signin/email-address.js';
import { decisionCountKey } from '../policy/decision-count-key.js';
import { Grant } from '../grant.js';
import { Interaction, type InteractionObject } from '../interaction/interaction.js';
import { endSessions } from '../account/end-sessions.js';
import { Account } from '../account/account.js';
import type { ClosingRow } from '../account/deletion-row.js';

/** How many objects go together, and how many are looked at together. */
const together = { gone: 20, looked: 250 };

/** How long the mail that tells of a deletion is tried, in milliseconds. */
const tellFor = 86_400_000;

/**
 * Ends sessions and grants of accounts and, where an account was deleted, removes all that it
 * owned, itself last, and tells the person. Each step may be repeated.
 */
export function closingWorker(store: Store): Worker {
  return {
    name: 'closing',
    delivery: 'AtLeastOnce',
    maxParallel: 4,
    async run(payload) {
      const row = payload as ClosingRow;
      const call = store.systemCall();
      const account = await call.store(Account).get(row.account);
      const { deletionTimestamp } = account?.metadata ?? {};
      if (row.why === 'Disabled' && (!account || deletionTimestamp)) return { done: true };
      await endSessions(call, { account: row.account, seconds: Math.floor(row.asked / 1000) }); // it may be enabled again by now, and signed in to
      for (const { metadata } of await call.store(Grant).list(row.account))
        await call.change(async (tx) => tx.add(await call.ports.revokeGrants([metadata.name])));
      if (row.why === 'Disabled') return { done: true };
      await removeOwned(store, call, row.account);
      await removeInteractions(store, call, row.account);
      if (account && deletionTimestamp)
        await removeAccount(store, call, row, account.status.email.address);
      await removeOwned(store, call, row.account);
      return { done: true };
    },
  };
}

/** Removes every object that an account owns, of whatever kind, and the count of its decisions. */
async function removeOwned(store: Store, call: Call, account: string): Promise<void> {
  for (const kind of store.registry.kinds) {
    if (!kind.owner || kind.owner === 'metadata.name') continue;
    const names = (await call.store(kind).list(account)).map(({ metadata }) => metadata.name);
    for (let i = 0; i < names.length; i += together.gone)
      await erase(call, kind, names.slice(i, i + together.gone));
  }
  await call.change(async (tx) =>
    tx.add({ checks: [], writes: [{ delete: decisionCountKey(account) }] }),
  );
}

/** Sign-ins under way name the person they have found. */
async function removeInteractions(store: Store, call: Call, account: string): Promise<void> {
  for await (const page of listPages(store, Interaction, together.looked)) {
    const theirs = page.filter(({ object }) => {
      const { internal } = object as InteractionObject;
      return internal.login?.account === account || internal.account === account;
    });
    for (const { name } of theirs) await erase(call, Interaction, [name]);
  }
}

const erase = (call: Call, kind: AnyKind, names: readonly string[]): Promise<void> =>
  call.change(async (tx) => {
    for (const name of names) await tx.erase(kind, name);
  });

/** Someone signs in with the address again: that mail is not of this account. */
const isLater = (order: MailOrder, asked: number): boolean =>
  'signIn' in order && order.signIn.now > asked;

/**
 * The account itself, with the mail that says so; mails to it that have not left are not sent any
 * more.
 */
async function removeAccount(
  store: Store,
  call: Call,
  { account, asked, browser, byOwner }: ClosingRow,
  address: string,
): Promise<void> {
  await dropRows(
    store,
    call.keys,
    'mail',
    (order) =>
      canonical((order as MailOrder).to) === canonical(address) &&
      !isLater(order as MailOrder, asked),
  );
  const order: MailOrder = {
    to: address,
    accountDeleted: { host: new URL(call.settings.baseURL).host, asked, browser, byOwner },
  };
  await call.change(async (tx) => {
    if (!(await tx.get(Account, account))) return;
    await tx.erase(Account, account);
    await tx.enqueue('mail', order, call.now + tellFor);
  });
}
