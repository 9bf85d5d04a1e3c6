import { z } from 'zod';
import { defineAction } from '../../registry/action.js';
import { challengeResponse, PasskeyChallenge, requestOptions } from '../people/passkey/options.js';
import {
  challengeLimit,
  challengesPerSessionLimit,
  registrationOptions,
} from '../people/passkey/registration-challenge.js';
import { newChallenge, Purpose, putChallenge } from '../signin/passkey-challenge.js';
import { requireRecentSetupSignIn } from './account-setup.js';
import { Interaction } from './interaction.js';
import { assertPhase } from './preconditions.js';

/**
 * POST passkeychallenge: returns options for the browser to sign in or, once signed in, to register
 * a passkey. A new challenge replaces the previous one (docs/design/api.md#passkey-challenges).
 */
export const passkeyChallenge = defineAction({
  of: Interaction,
  subresource: 'passkeychallenge',
  verb: 'create',
  kind: 'PasskeyChallenge',
  answers: { kind: 'PasskeyChallenge', schema: PasskeyChallenge },
  code: 201,
  limit: challengeLimit,
  description: 'Returns WebAuthn options for the browser.',
  spec: z.object({
    purpose: Purpose.describe('Authenticate: sign in. Register: add a passkey.'),
  }),
  async run(call, { metadata: { name } }, { spec: { purpose } }) {
    const challenge = newChallenge();
    const account = await call.change(async (tx) => {
      const interaction = (await tx.get(Interaction, name))!;
      if (purpose === 'Authenticate') assertPhase('LoginRequired', interaction, call);
      const person =
        purpose === 'Register'
          ? (await requireRecentSetupSignIn(tx, call, name)).account
          : undefined;
      await tx.spend(challengesPerSessionLimit(call.settings.limits), name);
      await tx.update(Interaction, name, ({ internal }) =>
        putChallenge(internal, purpose, challenge, call.now),
      );
      return person;
    });
    return challengeResponse(
      purpose,
      account
        ? await registrationOptions(call, challenge, account)
        : requestOptions(challenge, call.settings),
      call.now,
    );
  },
});
