import type { Log } from '../../../observability/log.js';
import { Controller } from '../../../registry/store/controller.js';
import type { Store } from '../../../registry/store/store.js';
import type { Subscription } from '../../../registry/watchcache/watch-cache.js';
import { Account } from '../../people/account/account.js';
import type { Memberships } from '../../people/group/membership-index.js';
import { Invitation } from './invitation.js';
import { mayStillInvite } from './inviter.js';
import { revokeInvitation } from './pending.js';
import { isPending } from './schema.js';

/**
 * Ends pending Invitations whose inviter may not invite any more, soon after a change of a Group, of the
 * inviter's Account or of the policy. The sign-in that would accept one decides again in any case
 * (docs/design/api.md#invitations).
 */
export class InvitationController {
  readonly #store: Store;
  readonly #controller: Controller<typeof Invitation>;
  #accounts: Subscription | undefined;

  constructor(store: Store, groups: Memberships, log: Log) {
    this.#store = store;
    this.#controller = new Controller(
      store,
      {
        name: 'invitations',
        kind: Invitation,
        isDue: ({ internal, status }) =>
          internal?.inviter !== undefined && status.phase === 'Pending',
        async reconcile(tx, invitation, call) {
          if (
            isPending(invitation, call.now) &&
            !((await mayStillInvite(tx, invitation, call)) ?? true)
          ) {
            await revokeInvitation(tx, invitation);
          }
        },
      },
      log,
    );
    groups.onChange(() => this.check());
  }

  /** Follows Invitations and Accounts; call it once policy decides. Decides about all of them first. */
  async start(): Promise<void> {
    await this.#controller.start();
    const { watchCache } = this.#store;
    this.#accounts = watchCache.subscribe(Account.resource, watchCache.revision, {
      event: ({ before, after }) => this.#checkOf((after ?? before)!.name),
      gap: () => this.check(),
    });
  }

  /** Stops following, and waits for a check that runs. */
  async stop(): Promise<void> {
    this.#accounts?.leave();
    await this.#controller.stop();
  }

  /** Decides about all pending Invitations again, in the background. */
  check(): void {
    this.#controller.check();
  }

  #checkOf(account: string): void {
    this.#controller.check(({ internal }) => {
      const caller = internal?.inviter?.caller;
      return caller?.type === 'Account' && caller.account === account;
    });
  }
}
