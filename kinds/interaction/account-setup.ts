import { defineAction } from '../../registry/action.js';
import type { Call, Transaction } from '../../registry/kind.js';
import { expired } from '../../registry/status.js';
import { Account, accountSummary } from '../account/account.js';
import { ownChanges } from '../signin/update-limit.js';
import { requireRecentProof, type SignInProof } from '../signin/recent-sign-in.js';
import { isSessionValid } from '../account/end-sessions.js';
import { Interaction, type InteractionObject } from './interaction.js';
import { assertNotFollowed, assertPhase } from './preconditions.js';

type Login = NonNullable<InteractionObject['internal']['login']>;
type AccountObject = NonNullable<(typeof Account)['$object']>;

/** Who just signed in, while the account is being set up: 410 and 409 else. */
export const nameOfAccount = (interaction: InteractionObject, call: Call): string => {
  assertPhase('Authenticated', interaction, call);
  assertNotFollowed(interaction);
  return interaction.internal.login!.account;
};

/**
 * 410 where the account is gone or no one can sign in to it any more, or where it has ended this
 * sign-in since.
 */
export function assertSessionValid(
  account: AccountObject | undefined,
  { metadata, internal }: InteractionObject,
): asserts account is AccountObject {
  if (!account || account.status.disabledTimestamp)
    throw expired('the account is gone', Interaction, metadata.name);
  if (!isSessionValid(account.internal.signedOut, '', internal.login!.seconds))
    throw expired('this sign-in was ended from elsewhere', Interaction, metadata.name);
}

/**
 * Whose account it is and how they signed in, as far as they may change how they sign in: 403
 * unless that was soon ago, and by passkey where the account has one.
 */
export async function registrant(
  tx: Transaction,
  call: Call,
  name: string,
): Promise<{ account: AccountObject; login: Login }> {
  const interaction = (await tx.get(Interaction, name))!;
  const account = await tx.get(Account, nameOfAccount(interaction, call));
  assertSessionValid(account, interaction);
  const login = interaction.internal.login!;
  requireRecentProof(proofOf(login), account.status.passkeys, call, Interaction, name);
  return { account, login };
}

const proofOf = ({ method, seconds }: Login): SignInProof => ({ methods: [method], seconds });

/**
 * GET account: the account that just signed in, while it is being set up
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
    const account = await call.store(Account).get(nameOfAccount(interaction, call));
    assertSessionValid(account, interaction);
    return account;
  },
});

/**
 * PATCH account: a merge patch of its spec; the address was just proven and is not changeable here.
 */
export const setUpAccount = defineAction({
  of: Interaction,
  subresource: 'account',
  verb: 'patch',
  kind: 'Account',
  answers: Account,
  limit: ownChanges,
  description: 'Updates the account while it is being set up.',
  async run(call, { metadata }, body) {
    return call.change(async (tx) => {
      const interaction = await tx.get(Interaction, metadata.name);
      const name = nameOfAccount(interaction!, call);
      assertSessionValid(await tx.get(Account, name), interaction!);
      requireRecentProof(
        proofOf(interaction!.internal.login!),
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
