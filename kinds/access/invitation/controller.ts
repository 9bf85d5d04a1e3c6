import type { Log } from '../../../observability/log.js';
import { Informer } from '../../../registry/store/informer.js';
import type { Store } from '../../../registry/store/store.js';
import type { WatchCacheEvent } from '../../../registry/watchcache/event.js';
import type { Subscription } from '../../../registry/watchcache/watch-cache.js';
import { Account } from '../../people/account/account.js';
import type { Memberships } from '../../people/group/membership-index.js';
import { Invitation } from './invitation.js';
import { mayStillInvite } from './inviter.js';
import { revokeInvitation } from './pending.js';
import { type InvitationObject, isPending } from './schema.js';

/**
 * Ends pending Invitations whose inviter may not invite any more, soon after a change of a Group, of the
 * inviter's Account or of the policy. The sign-in that would accept one decides again in any case
 * (docs/design/api.md#invitations).
 */
export class InvitationController {
  readonly #store: Store;
  readonly #log: Log;
  readonly #pending = new Map<string, InvitationObject>();
  readonly #informer: Informer<typeof Invitation>;
  #accounts: Subscription | undefined;
  #checking: Promise<void> | undefined;
  #isDue = false;
  #isStopped = false;

  constructor(store: Store, groups: Memberships, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#informer = new Informer(store, Invitation, (before, after) => this.#note(before, after));
    groups.onChange(() => this.check());
  }

  /** Follows Invitations and Accounts; call it once policy decides. Decides about all of them first. */
  async start(): Promise<void> {
    await this.#informer.start();
    const { watchCache } = this.#store;
    this.#accounts = watchCache.subscribe(Account.resource, watchCache.revision, {
      event: (event) => this.#noteAccount(event),
      gap: () => this.check(),
    });
    this.check();
  }

  /** Stops following, and waits for a check that runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#accounts?.leave();
    this.#informer.stop();
    await this.#checking;
  }

  /** Decides about all pending Invitations again, in the background. */
  check(): void {
    this.#isDue = true;
    this.#checking ??= this.#run();
  }

  async #run(): Promise<void> {
    // After `check` has kept this promise.
    await undefined;
    while (this.#isDue && !this.#isStopped) {
      this.#isDue = false;
      for (const name of this.#pending.keys())
        await this.#revokeIfLost(name).catch((error: unknown) =>
          this.#log.warn({ err: error, invitation: name }, 'an invitation could not be checked'),
        );
    }
    this.#checking = undefined;
  }

  async #revokeIfLost(name: string): Promise<void> {
    const call = this.#store.systemCall();
    await call.change(async (tx) => {
      const invitation = await tx.get(Invitation, name);
      if (!invitation || !isPending(invitation, call.now)) return;
      if ((await mayStillInvite(tx, invitation, call)) === false)
        await revokeInvitation(tx, invitation);
    });
  }

  #note(before: InvitationObject | undefined, after: InvitationObject | undefined): void {
    const { name } = (after ?? before)!.metadata;
    if (after?.internal?.inviter && after.status.phase === 'Pending')
      this.#pending.set(name, after);
    else this.#pending.delete(name);
  }

  #noteAccount({ before, after }: WatchCacheEvent): void {
    const { name } = (after ?? before)!;
    const invites = ({ internal }: InvitationObject): boolean => {
      const caller = internal?.inviter?.caller;
      return caller?.type === 'Account' && caller.account === name;
    };
    if ([...this.#pending.values()].some(invites)) this.check();
  }
}
