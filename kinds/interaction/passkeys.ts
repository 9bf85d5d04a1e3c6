import { defineAction, type Call, type ObjectOf, type Transaction } from '../../registry/kind.js';
import { Account, accountSummary } from '../account/account.js';
import { takeChallenge, type Taken } from '../passkey/challenge.js';
import { addPasskey, newPasskey, Passkey, passkeyLimit, verifiedRegistration } from '../passkey/passkey.js';
import { nameOfAccount, refuseEnded } from './account.js';
import { Interaction } from './interaction.js';

/** POST passkeys: adds a passkey while the account is being set up, answering a Register challenge, which is used up whatever comes of it (specification 4). */
export const addPasskeyInSetup = defineAction({
  of: Interaction, subresource: 'passkeys', verb: 'create', kind: 'Passkey', answers: Passkey, code: 201, limit: passkeyLimit,
  description: 'Adds a passkey, answering a Register challenge.',
  spec: newPasskey,
  async run(call, { metadata: { name } }, { spec }) {
    const challenge = call.ports.signIns.challengeOf(await call.change(async (tx) => {
      await personOf(tx, call, name);
      let taken!: Taken;
      await tx.update(Interaction, name, ({ internal }) => { taken = takeChallenge(internal, 'Register', call.now) });
      return taken;
    }));
    const registration = await verifiedRegistration(call, spec, challenge);
    return call.change(async (tx) => {
      const account = await personOf(tx, call, name);
      const passkey = await addPasskey(tx, account, registration, spec.displayName);
      const changed = (await tx.get(Account, account.metadata.name))!;
      await tx.update(Interaction, name, ({ status }) => { status.account = accountSummary(changed) });
      return passkey;
    });
  },
});

async function personOf(tx: Transaction, call: Call, name: string): Promise<ObjectOf<typeof Account>> {
  const interaction = (await tx.get(Interaction, name))!;
  const account = await tx.get(Account, nameOfAccount(interaction, call));
  refuseEnded(account, interaction);
  return account;
}
