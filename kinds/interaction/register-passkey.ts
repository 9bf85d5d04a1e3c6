import { defineAction } from '../../registry/action.js';
import { Account, accountSummary } from '../account/account.js';
import { takeChallenge, type Taken } from '../signin/passkey-challenge.js';
import {
  addPasskey,
  newPasskey,
  Passkey,
  passkeyLimit,
  verifiedRegistration,
} from '../passkey/passkey.js';
import { registrant } from './account-setup.js';
import { Interaction } from './interaction.js';

/**
 * POST passkeys: adds a passkey while the account is being set up, answering a Register challenge,
 * which is used up whatever comes of it (docs/design/api.md#passkey-challenges).
 */
export const addPasskeyInSetup = defineAction({
  of: Interaction,
  subresource: 'passkeys',
  verb: 'create',
  kind: 'Passkey',
  answers: Passkey,
  code: 201,
  limit: passkeyLimit,
  description: 'Adds a passkey, answering a Register challenge.',
  spec: newPasskey,
  async run(call, { metadata: { name } }, { spec }) {
    const challenge = call.ports.signIns.challengeOf(
      await call.change(async (tx) => {
        await registrant(tx, call, name);
        let taken!: Taken;
        await tx.update(Interaction, name, ({ internal }) => {
          taken = takeChallenge(internal, 'Register', call.now);
        });
        return taken;
      }),
    );
    const registration = await verifiedRegistration(call, spec, challenge);
    return call.change(async (tx) => {
      const { account, login } = await registrant(tx, call, name);
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
      });
      return passkey;
    });
  },
});
