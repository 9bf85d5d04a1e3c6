import { z } from 'zod';
import { apiVersion, type Settings } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { timestamp } from '../signin/schema-types.js';
import { challengeLifetimeMs, Purpose } from '../signin/passkey-challenge.js';
import { algorithms } from './webauthn/cose-key.js';

const descriptor = z.object({
  id: z.string().describe('The credential id, base64url.'),
  type: z.literal('public-key').describe('The only type there is.'),
  transports: z.array(z.string()).optional().describe('How the authenticator can be reached.'),
});
const shared = {
  challenge: z.string().describe('32 random bytes, base64url.'),
  timeout: z.number().int().describe('Milliseconds.'),
};

/**
 * What a browser is given for `navigator.credentials.get` (WebAuthn 3,
 * PublicKeyCredentialRequestOptionsJSON).
 */
const RequestOptions = z.object({
  ...shared,
  rpId: z.string().describe('Whom passkeys belong to.'),
  allowCredentials: z.array(descriptor).describe('Always empty: the person picks a passkey.'),
  userVerification: z.literal('required').describe('The authenticator knows its person.'),
});

/**
 * What a browser is given for `navigator.credentials.create` (WebAuthn 3,
 * PublicKeyCredentialCreationOptionsJSON).
 */
const CreationOptions = z.object({
  ...shared,
  rp: z
    .object({
      id: z.string().describe('Whom passkeys belong to.'),
      name: z.string().describe('The same for people.'),
    })
    .describe('This service.'),
  user: z
    .object({
      id: z.string().describe('The account’s user handle, base64url.'),
      name: z.string().describe('Its address.'),
      displayName: z.string().describe('Its name for people.'),
    })
    .describe('The account.'),
  pubKeyCredParams: z
    .array(
      z.object({
        alg: z.number().int().describe('COSE algorithm.'),
        type: z.literal('public-key').describe('The only type there is.'),
      }),
    )
    .describe('Algorithms taken.'),
  excludeCredentials: z.array(descriptor).describe('Passkeys that the account has.'),
  authenticatorSelection: z
    .object({
      residentKey: z.literal('required').describe('The authenticator keeps it.'),
      requireResidentKey: z.literal(true).describe('The same, for older browsers.'),
      userVerification: z.literal('required').describe('The authenticator knows its person.'),
    })
    .describe('What the authenticator must be able to do.'),
  attestation: z.literal('none').describe('No one is asked what made it.'),
});

/** What a passkey challenge is answered with (docs/design/api.md#passkey-challenges). */
export const PasskeyChallenge = z.object({
  apiVersion: z.string().describe('Group and version.'),
  kind: z.literal('PasskeyChallenge').describe('The kind.'),
  spec: z.object({ purpose: Purpose.describe('What it is for.') }).describe('What was asked.'),
  status: z
    .object({
      options: z
        .union([RequestOptions, CreationOptions])
        .describe('Options for the browser, in WebAuthn’s JSON form.'),
      expirationTimestamp: timestamp().describe('Until when an answer counts.'),
    })
    .describe('What the browser needs.'),
});
type Options = z.infer<typeof PasskeyChallenge>['status']['options'];

/** The answer to a request for a challenge. */
export const challengeAnswer = (
  purpose: Purpose,
  options: Options,
  now: number,
): z.infer<typeof PasskeyChallenge> => ({
  apiVersion,
  kind: 'PasskeyChallenge',
  spec: { purpose },
  status: { options, expirationTimestamp: toTimestamp(now + challengeLifetimeMs) },
});

/** Options of a sign-in: the same for everybody, since no one has said who they are. */
export const requestOptions = (challenge: string, { rpID }: Settings): Options => ({
  challenge,
  timeout: challengeLifetimeMs,
  rpId: rpID,
  allowCredentials: [],
  userVerification: 'required',
});

/** Whose passkey is to be made. */
interface Person {
  readonly userHandle: string;
  readonly address: string;
  readonly displayName: string | undefined;
  readonly passkeys: readonly { readonly id: string; readonly transports: string[] }[];
}

/** Options of a registration, with nothing left to a default (docs/design/security.md#passkeys). */
export const creationOptions = (
  challenge: string,
  { rpID }: Settings,
  { userHandle, address, displayName, passkeys }: Person,
): Options => ({
  challenge,
  timeout: challengeLifetimeMs,
  rp: { id: rpID, name: rpID },
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
