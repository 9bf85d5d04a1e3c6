import { z } from 'zod';
import { defineAction } from '../../../registry/action.js';
import type { Call, ObjectOf } from '../../../registry/kind.js';
import { type LimitOf, perMinute } from '../../../registry/limits/rate-limit.js';
import { forbidden, unauthorized } from '../../../registry/status/status.js';
import { Appearance, appearanceName } from '../../appearance/appearance.js';
import { newChallenge, putChallenge } from '../../signin/passkey-challenge.js';
import { requireRecentAuthentication } from '../../signin/recent-sign-in.js';
import { Account } from '../account/account.js';
import { Session } from '../session/session.js';
import { challengeResponse, creationOptions, PasskeyChallenge } from './options.js';
import { Passkey } from './passkey.js';

/** Limits WebAuthn challenges by client network. */
export const challengeLimit = perMinute('passkeychallenge', 'passkeysPerNetwork');

/**
 * Limits the WebAuthn challenges of one sign-in or session to `challengesPerSession` in two hours.
 */
export const challengesPerSessionLimit: LimitOf = ({ challengesPerSession }) => ({
  name: 'passkeychallenges',
  setting: 'challengesPerSession',
  max: challengesPerSession,
  seconds: 7_200,
});

/** Returns the options with which a browser creates a passkey for this account. */
export async function registrationOptions(
  call: Call,
  challenge: string,
  { metadata, spec, status, internal }: ObjectOf<typeof Account>,
) {
  const passkeys = await call.store(Passkey).list(metadata.name);
  const appearance = await call.store(Appearance).cached(appearanceName);
  return creationOptions(challenge, call.settings, {
    deployment: appearance?.spec.displayName,
    userHandle: internal.userHandle,
    address: status.email.address,
    displayName: spec.displayName,
    passkeys: passkeys.map((passkey) => ({
      id: passkey.internal.credentialID,
      transports: passkey.status.transports,
    })),
  });
}

/**
 * POST accounts/~/passkeychallenge: returns a challenge to register a passkey and stores it in the
 * caller's session (docs/design/api.md#passkey-challenges).
 */
export const accountPasskeyChallenge = defineAction({
  of: Account,
  subresource: 'passkeychallenge',
  verb: 'create',
  kind: 'PasskeyChallenge',
  answers: { kind: 'PasskeyChallenge', schema: PasskeyChallenge },
  code: 201,
  limit: challengeLimit,
  description: 'Returns WebAuthn options to register a passkey.',
  spec: z.object({
    purpose: z.literal('Register').describe('Always Register, because the caller is signed in.'),
  }),
  async run(call, account) {
    const { caller } = call;
    if (caller.type !== 'Account' || caller.account !== account.metadata.name) {
      throw forbidden(
        'only the owner of an account may register its passkeys',
        Account,
        account.metadata.name,
      );
    }
    requireRecentAuthentication(call, Account, account.metadata.name, account.status.passkeys);
    const challenge = newChallenge();
    await call.change(async (tx) => {
      const session = await tx.get(Session, caller.session!);
      if (!session || session.metadata.deletionTimestamp) throw unauthorized();
      await tx.spend(challengesPerSessionLimit(call.settings.limits), session.metadata.name);
      await tx.update(Session, session.metadata.name, ({ internal }) =>
        putChallenge(internal, 'Register', challenge, call.now),
      );
    });
    return challengeResponse(
      'Register',
      await registrationOptions(call, challenge, account),
      call.now,
    );
  },
});
