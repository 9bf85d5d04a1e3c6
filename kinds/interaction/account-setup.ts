import { defineAction } from '../../registry/action.js';
import type { Call, Transaction } from '../../registry/kind.js';
import { expired } from '../../registry/status/status.js';
import { Account, accountSummary } from '../people/account/account.js';
import { isSignInValid } from '../people/account/end-sessions.js';
import { requireRecentProof, type SignInProof } from '../signin/recent-sign-in.js';
import { updateLimit } from '../signin/update-limit.js';
import { Interaction, type InteractionObject } from './interaction.js';
import { assertNotFollowed, assertPhase } from './preconditions.js';

type Login = NonNullable<InteractionObject['internal']['login']>;
type AccountObject = NonNullable<(typeof Account)['$object']>;

/**
 * Returns the name of the account that just signed in. Throws 410 or 409 unless the account is
 * being set up.
 */
export const accountNameDuringSetup = (interaction: InteractionObject, call: Call): string => {
  assertPhase('Authenticated', interaction, call);
  assertNotFollowed(interaction);
  return interaction.internal.login!.account;
};

/** Throws 410 if the account was deleted or disabled, or if it revoked this sign-in. */
export function assertSessionValid(
  account: AccountObject | undefined,
  { metadata, internal }: InteractionObject,
): asserts account is AccountObject {
  if (!account || account.status.disabledTimestamp) {
    throw expired('the account was deleted or disabled', Interaction, metadata.name);
  }
  if (!isSignInValid(account, internal.login!)) {
    throw expired('this sign-in was revoked from another session', Interaction, metadata.name);
  }
}

/**
 * Returns the account and the sign-in that may change its sign-in methods. Throws 403 unless the
 * sign-in is recent, and by passkey if the account has one.
 */
export async function requireRecentSetupSignIn(
  tx: Transaction,
  call: Call,
  name: string,
): Promise<{ account: AccountObject; login: Login }> {
  const interaction = (await tx.get(Interaction, name))!;
  const account = await tx.get(Account, accountNameDuringSetup(interaction, call));
  assertSessionValid(account, interaction);
  const login = interaction.internal.login!;
  requireRecentProof(signInProofOf(login), account.status.passkeys, call, Interaction, name);
  return { account, login };
}

const signInProofOf = ({ method, seconds }: Login): SignInProof => ({ methods: [method], seconds });

/**
 * GET account: returns the account that just signed in, during its setup
 * (docs/design/api.md#sign-in-actions).
 */
export const readAccount = defineAction({
  of: Interaction,
  subresource: 'account',
  verb: 'get',
  kind: 'Account',
  answers: Account,
  description: 'The account that just signed in, while it is being set up.',
  async run(call, interaction) {
    const account = await call.store(Account).get(accountNameDuringSetup(interaction, call));
    assertSessionValid(account, interaction);
    return account;
  },
});

/**
 * PATCH account: a merge patch of its spec. The address was just verified and cannot be changed
 * here.
 */
export const setUpAccount = defineAction({
  of: Interaction,
  subresource: 'account',
  verb: 'patch',
  kind: 'Account',
  answers: Account,
  limit: updateLimit,
  description: 'Updates the account while it is being set up.',
  async run(call, { metadata }, body) {
    return call.change(async (tx) => {
      const interaction = await tx.get(Interaction, metadata.name);
      const name = accountNameDuringSetup(interaction!, call);
      assertSessionValid(await tx.get(Account, name), interaction!);
      requireRecentProof(
        signInProofOf(interaction!.internal.login!),
        0,
        call,
        Interaction,
        metadata.name,
      );
      const account = await tx.update(Account, name, (next) => {
        const { labels, annotations, ownerReferences, ...rest } = next.metadata;
        body.apply(next);
        next.metadata = {
          ...rest,
          ...(labels && { labels }),
          ...(annotations && { annotations }),
          ...(ownerReferences && { ownerReferences }),
        };
      });
      await tx.update(Interaction, metadata.name, ({ status }) => {
        status.account = accountSummary(account);
      });
      return account;
    });
  },
});
