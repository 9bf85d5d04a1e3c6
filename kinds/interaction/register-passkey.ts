import { defineAction } from '../../registry/action.js';
import { Account, accountSummary } from '../people/account/account.js';
import {
  addPasskey,
  newPasskey,
  Passkey,
  passkeyLimit,
  verifiedRegistration,
} from '../people/passkey/passkey.js';
import { hasFullStrength } from '../people/passkey/strength.js';
import { addedPasskeyAt } from '../people/session/added-passkey.js';
import { type TakenChallenge, takeChallenge } from '../signin/passkey-challenge.js';
import { requireRecentSetupSignIn } from './account-setup.js';
import { Interaction } from './interaction.js';

/**
 * POST passkeys: adds a passkey during account setup, which counts in the session that follows as a
 * sign-in with it. The Register challenge is used up even if the
 * registration fails (docs/design/api.md#passkey-challenges).
 */
export const addPasskeyInSetup = defineAction({
  of: Interaction,
  subresource: 'passkeys',
  verb: 'create',
  kind: 'Passkey',
  answers: Passkey,
  code: 201,
  limit: passkeyLimit,
  description: 'Adds a passkey from the response to a Register challenge.',
  spec: newPasskey,
  async run(call, { metadata: { name } }, { spec }) {
    const challenge = call.ports.signIns.challengeOf(
      await call.change(async (tx) => {
        await requireRecentSetupSignIn(tx, call, name);
        let taken!: TakenChallenge;
        await tx.update(Interaction, name, ({ internal }) => {
          taken = takeChallenge(internal, 'Register', call.now);
        });
        return taken;
      }),
    );
    const registration = await verifiedRegistration(call, spec, challenge);
    return call.change(async (tx) => {
      const { account, login } = await requireRecentSetupSignIn(tx, call, name);
      const passkey = await addPasskey(
        tx,
        call,
        { account, binding: login },
        { registration, called: spec.displayName },
      );
      const changed = (await tx.get(Account, account.metadata.name))!;
      await tx.update(Interaction, name, ({ status, internal }) => {
        status.account = accountSummary(changed);
        internal.login!.passkeys = changed.status.passkeys;
        const isFullStrength = hasFullStrength(passkey.status, call.now);
        internal.login!.addedPasskey = addedPasskeyAt(call.now, isFullStrength);
      });
      return passkey;
    });
  },
});
