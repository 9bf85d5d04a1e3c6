import { z } from 'zod';
import type { Settings } from '../../../registry/kind.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { apiVersion } from '../../api-version.js';
import { challengeLifetimeMs, Purpose } from '../../signin/passkey-challenge.js';
import { timestamp } from '../../signin/schema-types.js';
import { algorithms } from './webauthn/cose-key.js';

const descriptor = z.object({
  id: z.string().describe('The credential id, base64url.'),
  type: z.literal('public-key').describe('Always public-key.'),
  transports: z.array(z.string()).optional().describe('The transports of the authenticator.'),
});
const shared = {
  challenge: z.string().describe('32 random bytes, base64url.'),
  timeout: z.number().int().describe('How long the browser waits, in milliseconds.'),
};

/**
 * The argument of `navigator.credentials.get` (WebAuthn 3, PublicKeyCredentialRequestOptionsJSON).
 */
const RequestOptions = z.object({
  ...shared,
  rpId: z.string().describe('The relying party ID: the domain that passkeys belong to.'),
  allowCredentials: z.array(descriptor).describe('Always empty: the person picks a passkey.'),
  userVerification: z.literal('required').describe('The authenticator must verify the user.'),
});

/**
 * The argument of `navigator.credentials.create` (WebAuthn 3,
 * PublicKeyCredentialCreationOptionsJSON).
 */
const CreationOptions = z.object({
  ...shared,
  rp: z
    .object({
      id: z.string().describe('The relying party ID: the domain that passkeys belong to.'),
      name: z.string().describe('Its display name.'),
    })
    .describe('This service.'),
  user: z
    .object({
      id: z.string().describe('The account’s user handle, base64url.'),
      name: z.string().describe('Its address.'),
      displayName: z.string().describe('Its display name.'),
    })
    .describe('The account.'),
  pubKeyCredParams: z
    .array(
      z.object({
        alg: z.number().int().describe('COSE algorithm.'),
        type: z.literal('public-key').describe('Always public-key.'),
      }),
    )
    .describe('The accepted algorithms.'),
  excludeCredentials: z.array(descriptor).describe('The passkeys of the account.'),
  authenticatorSelection: z
    .object({
      residentKey: z.literal('required').describe('The authenticator must store the passkey.'),
      requireResidentKey: z.literal(true).describe('The same for browsers of WebAuthn 1.'),
      userVerification: z.literal('required').describe('The authenticator must verify the user.'),
    })
    .describe('The required features of the authenticator.'),
  attestation: z.literal('none').describe('Attestation is not requested.'),
});

/** The response to a passkeychallenge request (docs/design/api.md#passkey-challenges). */
export const PasskeyChallenge = z.object({
  apiVersion: z.string().describe('Group and version.'),
  kind: z.literal('PasskeyChallenge').describe('The kind.'),
  spec: z
    .object({ purpose: Purpose.describe('The purpose of the challenge.') })
    .describe('The request.'),
  status: z
    .object({
      options: z
        .union([RequestOptions, CreationOptions])
        .describe('Options for the browser, in WebAuthn’s JSON form.'),
      expirationTimestamp: timestamp().describe('When the challenge expires.'),
    })
    .describe('The challenge and its options.'),
});
type Options = z.infer<typeof PasskeyChallenge>['status']['options'];

/** Returns the response to a passkeychallenge request; `now` in ms since the epoch. */
export const challengeResponse = (
  purpose: Purpose,
  options: Options,
  now: number,
): z.infer<typeof PasskeyChallenge> => ({
  apiVersion,
  kind: 'PasskeyChallenge',
  spec: { purpose },
  status: { options, expirationTimestamp: toTimestamp(now + challengeLifetimeMs) },
});

/**
 * Returns the options of a sign-in. They are the same for everyone, because the person is not known
 * yet.
 */
export const requestOptions = (challenge: string, { rpID }: Settings): Options => ({
  challenge,
  timeout: challengeLifetimeMs,
  rpId: rpID,
  allowCredentials: [],
  userVerification: 'required',
});

/** The person who registers a passkey, and the name of the deployment that they register it with. */
interface Registration {
  readonly deployment: string | undefined;
  readonly userHandle: string;
  readonly address: string;
  readonly displayName: string | undefined;
  readonly passkeys: readonly { readonly id: string; readonly transports: string[] }[];
}

/**
 * Returns the options of a registration. They set every member, so that no browser default applies
 * (docs/design/security.md#passkeys).
 */
export const creationOptions = (
  challenge: string,
  { rpID }: Settings,
  { deployment, userHandle, address, displayName, passkeys }: Registration,
): Options => ({
  challenge,
  timeout: challengeLifetimeMs,
  rp: { id: rpID, name: deployment ?? rpID },
  user: { id: userHandle, name: address, displayName: displayName ?? address },
  pubKeyCredParams: algorithms.map((alg) => ({ alg, type: 'public-key' })),
  excludeCredentials: passkeys.map(({ id, transports }) => ({
    id,
    type: 'public-key',
    ...(transports.length > 0 && { transports }),
  })),
  authenticatorSelection: {
    residentKey: 'required',
    requireResidentKey: true,
    userVerification: 'required',
  },
  attestation: 'none',
});
