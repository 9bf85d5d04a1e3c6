import type { MailOrder } from '../../mail/messages.js';
import type { AnyKind, Call } from '../../registry/kind.js';
import { dropRows, type Worker } from '../../registry/store/outbox.js';
import { listPages } from '../../registry/store/pager.js';
import type { Store } from '../../registry/store/store.js';
import { reviewCountKey } from '../apps/claims/claims-review.js';
import { Grant } from '../apps/grant.js';
import { Interaction, type InteractionObject } from '../interaction/interaction.js';
import { Account } from '../people/account/account.js';
import type { ClosingRow } from '../people/account/deletion-row.js';
import { endSessions } from '../people/account/end-sessions.js';
import { decisionCountKey } from '../policy/decision-count-key.js';
import { canonicalAddress } from '../signin/email-address.js';
import { mailRetryMs } from '../signin/mail-person.js';

/** The number of objects that one commit deletes, and that one page reads. */
const batchSizes = { deleted: 20, read: 250 };

/**
 * Returns the worker that ends the sessions and grants of an account. For a deleted account it then
 * removes all owned objects, the account last, and mails the person. Every step is idempotent.
 */
export function closingWorker(store: Store): Worker<ClosingRow> {
  return {
    name: 'closing',
    delivery: 'AtLeastOnce',
    maxParallel: 4,
    async run(row) {
      const call = store.systemCall();
      const account = await call.store(Account).get(row.account);
      const { deletionTimestamp } = account?.metadata ?? {};
      if (row.why === 'Disabled' && (!account || deletionTimestamp)) return { done: true };
      // Later sign-ins stay: the account may have been enabled again.
      await endSessions(call, { account: row.account, seconds: Math.floor(row.asked / 1000) });
      for (const { metadata } of await call.store(Grant).list(row.account)) {
        await call.change(async (tx) => tx.add(await call.ports.revokeGrants([metadata.name])));
      }
      if (row.why === 'Disabled') return { done: true };
      await removeOwned(store, call, row.account);
      await removeInteractions(store, call, row.account);
      if (account && deletionTimestamp) {
        await removeAccount(store, call, row, account.status.email.address);
      }
      await removeOwned(store, call, row.account);
      return { done: true };
    },
  };
}

/** Removes every object that an account owns, and the counts of its decisions and reviews. */
async function removeOwned(store: Store, call: Call, account: string): Promise<void> {
  for (const kind of store.registry.kinds) {
    if (!kind.owner || kind.owner === 'metadata.name') continue;
    const names = (await call.store(kind).list(account)).map(({ metadata }) => metadata.name);
    for (let i = 0; i < names.length; i += batchSizes.deleted) {
      await erase(call, kind, names.slice(i, i + batchSizes.deleted));
    }
  }
  await call.change(async (tx) =>
    tx.add({
      checks: [],
      writes: [{ delete: decisionCountKey(account) }, { delete: reviewCountKey(account) }],
    }),
  );
}

/** Removes the sign-ins in progress that refer to the account. */
async function removeInteractions(store: Store, call: Call, account: string): Promise<void> {
  for await (const page of listPages(store, Interaction, batchSizes.read)) {
    const ofAccount = page.filter(({ object }) => {
      const { internal } = object as InteractionObject;
      return internal.login?.account === account || internal.account === account;
    });
    for (const { name } of ofAccount) await erase(call, Interaction, [name]);
  }
}

const erase = (call: Call, kind: AnyKind, names: readonly string[]): Promise<void> =>
  call.change(async (tx) => {
    for (const name of names) await tx.erase(kind, name);
  });

/**
 * Returns true for a mail of a sign-in after the deletion: the address may belong to a new account.
 */
const isAfterDeletion = (order: MailOrder, asked: number): boolean =>
  'signIn' in order && order.signIn.now > asked;

/**
 * Removes the account and enqueues the mail about it, unless no one ever signed in; drops mails to it
 * that were not sent yet.
 */
async function removeAccount(
  store: Store,
  call: Call,
  { account, asked, browser, byOwner, languages, timeZone }: ClosingRow,
  address: string,
): Promise<void> {
  await dropRows(
    store,
    call.keys,
    'mail',
    (order) =>
      canonicalAddress((order as MailOrder).to) === canonicalAddress(address) &&
      !isAfterDeletion(order as MailOrder, asked),
  );
  const order: MailOrder = {
    to: address,
    accountDeleted: { host: new URL(call.settings.baseURL).host, asked, browser, byOwner },
    ...(languages && { languages }),
    ...(timeZone !== undefined && { timeZone }),
  };
  await call.change(async (tx) => {
    const found = await tx.get(Account, account);
    if (!found) return;
    await tx.erase(Account, account);
    if (found.status.email.verifiedTimestamp === undefined) return;
    await tx.enqueue('mail', order, call.now + mailRetryMs);
  });
}
